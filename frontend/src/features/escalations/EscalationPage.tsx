/** One escalation: why, the diff, the decision. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type CSSProperties, useCallback, useEffect, useMemo, useRef } from "react";

import { buttonClass } from "@/components/Button";
import type { CommentActions } from "@/components/diff/comment-actions";
import { PageHeader } from "@/components/PageHeader";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { StatusBadge } from "@/components/StatusBadge";
import { withFinding } from "@/lib/diff/findings";
import { withBody, withComment, withoutComment, withStart } from "@/lib/diff/comments";
import { KINDS } from "@/lib/kinds";
import { type EscalationDetail, escalationQuery, escalationsQuery } from "@/lib/queries/escalations";
import { type Action, useActions } from "@/lib/shortcuts";

import { AnswerPane } from "./components/AnswerPane";
import { Assignment } from "./components/Assignment";
import { ColumnHandle, useColumnWidth } from "./components/ColumnHandle";
import { DecideBar } from "./components/DecideBar";
import { DiffPane, type DiffPaneProps, type Shown } from "./components/DiffPane";
import { LoopPane } from "./components/LoopPane";
import { GuidanceInPrompt } from "./components/GuidanceInPrompt";
import { ResolvedPanel } from "./components/ResolvedPanel";
import { ResolvePanel } from "./components/ResolvePanel";
import { WhyPanel } from "./components/WhyPanel";
import { forgetOldDrafts, useDraft } from "./draft";
import { afterThis, useNextKey } from "./next";
import { canSend, type Decision, type Draft, resolutionOf } from "./resolution";
import { conflictOf, useResolve, useUnsent } from "./use-resolve";

interface Props {
  id: string;
  shown: Shown;
  onShow: (change: Partial<Shown>) => void;
}

export function EscalationPage({ id, shown, onShow }: Props) {
  const { data, error, refetch } = useQuery(escalationQuery(id));
  useEffect(() => forgetOldDrafts(Date.now()), []);
  if (!data) {
    return (
      <>
        <PageHeader title="Escalation" />
        {error ? (
          <ErrorState error={error} what="load the escalation" onRetry={() => void refetch()} />
        ) : (
          <LoadingState what="the escalation" />
        )}
      </>
    );
  }
  return <Review escalation={data} shown={shown} onShow={onShow} />;
}

function Review({ escalation, shown, onShow }: { escalation: EscalationDetail } & Omit<Props, "id">) {
  const { draft, update, discard } = useDraft(escalation.id);
  const column = useColumnWidth();
  const resolve = useResolve(escalation.id, discard);
  const guidance = useRef<HTMLTextAreaElement>(null);
  const isOpen = escalation.status === "open";
  const conflict = conflictOf(resolve.error);
  const isDeciding = isOpen && !conflict;
  // Who was deciding when the form went away keeps a place: the text, else the outcome.
  const wasDeciding = useRef(isDeciding);
  useEffect(() => {
    if (isDeciding) wasDeciding.current = true;
  }, [isDeciding]);
  const unsent = useUnsent(draft, escalation, discard);
  const { data: queue } = useQuery(escalationsQuery("open"));
  const waiting = useMemo(() => afterThis(queue?.items ?? [], escalation), [queue, escalation]);
  const canAccept = escalation.can_accept;

  function send(): void {
    if (draft.decision === null || resolve.isPending || !canSend(draft, canAccept)) return;
    resolve.mutate(resolutionOf(draft, draft.decision, escalation.version));
  }
  const sendNow = useRef(send);
  useEffect(() => {
    sendNow.current = send;
  });
  useNextKey(waiting[0]?.id ?? null);
  useDecisionKeys({ kind: escalation.kind, isOpen, canAccept, update, guidance, sendNow });

  const comments = useMemo<CommentActions>(
    () => ({
      add: (at) => update((before) => ({ ...before, comments: withComment(before.comments, at) })),
      write: (at, body) => update((before) => ({ ...before, comments: withBody(before.comments, at, body) })),
      begin: (at, start) =>
        update((before) => ({ ...before, comments: withStart(before.comments, at, start) })),
      remove: (at) => update((before) => ({ ...before, comments: withoutComment(before.comments, at) })),
      copy: (finding) => update((before) => ({ ...before, guidance: withFinding(before.guidance, finding) })),
    }),
    [update],
  );

  return (
    <>
      <PageHeader
        title={escalation.run_name}
        beside={
          <>
            <StatusBadge status={escalation.status} />
            <Assignment escalation={escalation} />
          </>
        }
        actions={
          <Link to={KINDS[escalation.kind].page} params={{ id: escalation.run_id }} className={buttonClass()}>
            Open the run
          </Link>
        }
      />
      <div
        className={[
          "grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]",
          // The link at the bottom covers nothing.
          isOpen ? "max-lg:pb-14" : "",
          "2xl:grid-cols-[var(--why)_minmax(0,1fr)_20rem]",
        ].join(" ")}
        style={{ "--why": `${column.width}px` } as CSSProperties}
      >
        <div className="relative min-w-0 max-2xl:col-start-1 max-2xl:row-start-1">
          <WhyPanel escalation={escalation} />
          <ColumnHandle {...column} />
        </div>
        <div className="flex min-w-0 flex-col gap-4 max-lg:row-start-3 max-2xl:col-start-1">
          {!isOpen && <GuidanceInPrompt escalation={escalation} />}
          <Produced
            escalation={escalation}
            shown={shown}
            onShow={onShow}
            comments={isOpen ? draft.comments : escalation.line_comments}
            actions={isOpen ? comments : null}
          />
        </div>
        <div
          className={[
            "decide lg:sticky lg:top-[61px] lg:max-h-[calc(100dvh-77px)] lg:overflow-y-auto",
            "max-2xl:lg:col-start-2 max-2xl:lg:row-span-2 max-2xl:lg:row-start-1",
          ].join(" ")}
        >
          {isDeciding ? (
            <ResolvePanel
              escalation={escalation}
              draft={draft}
              update={update}
              onSend={send}
              isSending={resolve.isPending}
              error={resolve.error}
              guidance={guidance}
            />
          ) : (
            <ResolvedPanel
              escalation={{ ...escalation, ...decidedBy(escalation, conflict) }}
              draft={unsent}
              onDiscard={discard}
              next={waiting[0]?.id ?? null}
              waiting={waiting.length}
              wasDeciding={wasDeciding}
            />
          )}
        </div>
      </div>
      {isDeciding && <DecideBar />}
    </>
  );
}

type ProducedProps = { escalation: EscalationDetail } & Pick<
  DiffPaneProps,
  "shown" | "onShow" | "comments" | "actions"
>;

/** The views of the evidence: only sprints change files. */
function Produced({ escalation, ...diff }: ProducedProps) {
  const attempt = escalation.attempts.find((each) => each.id === escalation.attempt_id);
  if (escalation.kind === "director_loop") return <LoopPane escalation={escalation} />;
  if (escalation.kind === "answer") return <AnswerPane escalation={escalation} />;
  if (escalation.can_accept)
    return (
      <DiffPane
        id={escalation.run_id}
        phase={escalation.phase}
        number={escalation.attempt}
        evaluations={attempt?.evaluations ?? escalation.failing}
        {...diff}
      />
    );
  return (
    <EmptyState title="No diff">
      <p>The agent produced nothing to read or accept.</p>
    </EmptyState>
  );
}

/** The answer to a second reviewer tells who was first, before the page has asked again. */
function decidedBy(
  escalation: EscalationDetail,
  conflict: ReturnType<typeof conflictOf>,
): Partial<EscalationDetail> {
  if (escalation.status !== "open" || conflict === null) return {};
  return {
    status: "resolved",
    decided_by: conflict.by,
    decided_at: conflict.at,
    decision: conflict.decision as Decision,
  };
}

interface Keys {
  kind: EscalationDetail["kind"];
  isOpen: boolean;
  canAccept: boolean;
  update: (change: (before: Draft) => Draft) => void;
  guidance: React.RefObject<HTMLTextAreaElement | null>;
  sendNow: React.RefObject<() => void>;
}

function useDecisionKeys({ kind, isOpen, canAccept, update, guidance, sendNow }: Keys): void {
  const choose = useCallback(
    (decision: Decision) => {
      update((before) => ({ ...before, decision }));
      guidance.current?.focus();
    },
    [update, guidance],
  );
  const offered = useMemo<readonly Action[]>(() => {
    if (!isOpen) return [];
    const group = "Decision";
    return [
      ...(canAccept
        ? [{ id: "accept", label: "Accept the output …", keys: "a", group, run: () => choose("accept") }]
        : []),
      { id: "retry", label: "Retry with guidance …", keys: "r", group, run: () => choose("retry") },
      {
        id: "reject",
        label: `Reject, the ${KINDS[kind].word} fails …`,
        keys: "x",
        group,
        run: () => choose("reject"),
      },
      { id: "guidance", label: "Write guidance", keys: "i", group, run: () => guidance.current?.focus() },
      {
        id: "send",
        label: "Send the decision (Ctrl Enter in a field)",
        keys: "s s",
        group,
        run: () => sendNow.current(),
      },
    ];
  }, [kind, isOpen, canAccept, choose, guidance, sendNow]);
  useActions(offered);
}
