/** The decision: always in sight, sent once, never shown as done before the service says so. */
import { type KeyboardEvent, type Ref, useMemo } from "react";

import { Allowed } from "@/components/Allowed";
import { CopyMenu } from "@/components/CopyMenu";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { ApiError } from "@/lib/api/errors";
import { written } from "@/lib/diff/comments";
import { plural } from "@/lib/format";
import { identity } from "@/lib/identity";
import type { EscalationDetail } from "@/lib/queries/escalations";
import { isMac } from "@/lib/shortcuts";

import { consequence, furtherText, GUIDANCE, TRY } from "../consequences";
import {
  asCommand,
  asCurl,
  canSend,
  type Decision,
  type Draft,
  missing,
  MOST_ATTEMPTS,
  resolutionOf,
} from "../resolution";
import { DECISIONS } from "../labels";

import { KnownFailures } from "./KnownFailures";

const LONGEST_GUIDANCE = 20_000;
const CHOICES = [
  { decision: "accept", key: "a" },
  { decision: "retry", key: "r" },
  { decision: "reject", key: "x" },
] as const;

interface Props {
  escalation: EscalationDetail;
  draft: Draft;
  update: (change: (before: Draft) => Draft) => void;
  onSend: () => void;
  isSending: boolean;
  error: Error | null;
  guidance: Ref<HTMLTextAreaElement>;
}

export function ResolvePanel({ escalation, draft, update, onSend, isSending, error, guidance }: Props) {
  const lack = missing(draft);
  const isRetry = draft.decision === null || draft.decision === "retry";
  const isReady = canSend(draft, escalation.can_accept) && !isSending;
  const copies = useMemo(() => {
    const body = () => resolutionOf(draft, draft.decision ?? "retry", escalation.version);
    const { token } = identity.get();
    const line = asCommand(escalation.id, body(), location.origin);
    return [
      { label: "as curl", text: () => asCurl(escalation.id, body(), location.origin, token !== "") },
      ...(line === null ? [] : [{ label: "as command", text: () => line }]),
      { label: "link to this page", text: () => location.href },
    ];
  }, [draft, escalation.id, escalation.version]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onSend();
    }
    if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys of all its fields
    <form
      id="resolve"
      aria-label="Decision"
      className="card flex flex-col gap-3 p-3"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <Choices escalation={escalation} draft={draft} update={update} />
      <label className="flex flex-col gap-1">
        <span className="font-medium">{isRetry ? GUIDANCE[escalation.kind] : "Reason (recorded)"}</span>
        <textarea
          ref={guidance}
          className="field"
          rows={5}
          maxLength={LONGEST_GUIDANCE}
          // What is typed now would not be sent.
          readOnly={isSending}
          value={draft.guidance}
          aria-invalid={fieldError(error, "guidance") !== ""}
          onChange={(event) => update((before) => ({ ...before, guidance: event.target.value }))}
        />
      </label>
      {isRetry && <Attempts kind={escalation.kind} draft={draft} update={update} />}
      {escalation.kind === "sprint" && (
        <>
          <OpenPaths
            escalation={escalation}
            draft={draft}
            update={update}
            error={fieldError(error, "open_paths")}
          />
          {/* Without output there is no diff to comment on. */}
          {escalation.can_accept && <p className="text-muted">{commentsText(draft)}</p>}
        </>
      )}
      <KnownFailures escalation={escalation} draft={draft} update={update} />
      <div className="flex flex-wrap items-center gap-2">
        <Allowed
          needs="reviewer"
          weight={draft.decision === "reject" ? "danger" : "primary"}
          type="submit"
          disabled={!isReady}
          aria-keyshortcuts="Control+Enter Meta+Enter"
        >
          {isSending ? "Sending …" : sendText(draft, escalation.kind)}
        </Allowed>
        <CopyMenu items={copies} />
        <kbd className="text-muted">{isMac() ? "⌘ ↵" : "Ctrl ↵"}</kbd>
      </div>
      <Outcome isSending={isSending} lack={lack} error={error} />
    </form>
  );
}

function Outcome({ isSending, lack, error }: Pick<Props, "isSending" | "error"> & { lack: string }) {
  return (
    <>
      <p role="status" className="text-muted">
        {isSending ? "Waiting for the service. Nothing is decided yet." : lack}
      </p>
      {error && !isSending && (
        <p role="alert" className="theirs text-failed">
          Not recorded: <UntrustedText text={explain(error, "record the decision").text} /> Your text is kept.
        </p>
      )}
    </>
  );
}

function Choices({ escalation, draft, update }: Pick<Props, "escalation" | "draft" | "update">) {
  const choose = (decision: Decision) => update((before) => ({ ...before, decision }));
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 font-semibold">Your decision</legend>
      {CHOICES.map(({ decision, key }) => {
        const isOff = decision === "accept" && !escalation.can_accept;
        return (
          <label
            key={decision}
            className={[
              "flex items-start gap-2 rounded-md border border-line p-2 has-checked:border-accent",
              "has-checked:bg-sunken",
            ].join(" ")}
          >
            <input
              type="radio"
              name="decision"
              className="mt-1"
              value={decision}
              checked={draft.decision === decision}
              disabled={isOff}
              onChange={() => choose(decision)}
            />
            <span className="flex-1">
              <span className="font-medium">{DECISIONS[decision]}</span>
              <span className="block text-xs text-muted">
                {isOff ? "There is no output to accept." : consequence(decision, escalation)}
              </span>
            </span>
            <kbd className="rounded border border-line px-1.5 text-muted">{key}</kbd>
          </label>
        );
      })}
    </fieldset>
  );
}

function Attempts({
  kind,
  draft,
  update,
}: Pick<Props, "draft" | "update"> & { kind: EscalationDetail["kind"] }) {
  return (
    <label className="flex items-center gap-2">
      <span className="flex-1 font-medium">Further {TRY[kind]}s</span>
      <input
        type="number"
        className="field max-w-20"
        min={1}
        max={MOST_ATTEMPTS}
        value={Number.isNaN(draft.attempts) ? "" : draft.attempts}
        onChange={(event) => update((before) => ({ ...before, attempts: event.target.valueAsNumber }))}
      />
    </label>
  );
}

function OpenPaths({
  escalation,
  draft,
  update,
  error,
}: Pick<Props, "escalation" | "draft" | "update"> & { error: string }) {
  return (
    <div className="flex flex-col gap-1">
      <label className="flex flex-col gap-1">
        <span className="font-medium">Protected files to open</span>
        <textarea
          className="field mono"
          rows={draft.openPaths.split("\n").length}
          placeholder="tests/test_one.py"
          value={draft.openPaths}
          aria-invalid={error !== ""}
          onChange={(event) => update((before) => ({ ...before, openPaths: event.target.value }))}
        />
      </label>
      <p className="text-xs text-muted">
        Tests and tool settings that the agent may change from now on. One glob per line.
        {escalation.open_paths.length > 0 && (
          <>
            {" "}
            Already open: <UntrustedText text={escalation.open_paths.join(", ")} />.
          </>
        )}
      </p>
      {draft.decision === "accept" && escalation.would_open.length > 0 && (
        <p className="rounded-md bg-waiting-chip p-2 text-waiting">
          Accepting also unprotects the files it changed:{" "}
          <UntrustedText text={escalation.would_open.join(", ")} />
        </p>
      )}
    </div>
  );
}

function fieldError(error: Error | null, field: string): string {
  return error instanceof ApiError && (error.problem.field ?? "").startsWith(field)
    ? error.problem.detail
    : "";
}

function commentsText(draft: Draft): string {
  const count = written(draft.comments).length;
  if (count === 0) return "No line comments. Click a line's number, or press c on a line.";
  return `${plural(count, "line comment")} ${count === 1 ? "goes" : "go"} with it.`;
}

function sendText(draft: Draft, kind: EscalationDetail["kind"]): string {
  if (draft.decision === "retry") return `Retry, ${furtherText(kind, draft.attempts || 0)}`;
  return draft.decision === null ? "Decide" : DECISIONS[draft.decision];
}
