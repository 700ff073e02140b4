/** Unmarked verdicts one after the other, the evidence open: y and n mark, s leaves one out. */
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { Allowed } from "@/components/Allowed";
import { Button } from "@/components/Button";
import { Evidence } from "@/components/EvidencePanel";
import { EmptyState, ErrorState, explain, LoadingState } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { plural } from "@/lib/format";
import { markVerdict, type Verdict, verdictsQuery, withdrawMark } from "@/lib/queries/metrics";
import { type Action, useActions } from "@/lib/shortcuts";

interface Marked {
  readonly id: string;
  readonly mark: string;
}

export function MarkQueue({ name, onEnd }: { name: string; onEnd: () => void }) {
  const verdicts = useInfiniteQuery(verdictsQuery(name, { mark: "none" }));
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = verdicts;
  const [past, setPast] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<Marked | null>(null);
  const left = useMemo(
    () => (verdicts.data?.pages ?? []).flatMap((page) => page.items).filter((each) => canMark(each, past)),
    [verdicts.data, past],
  );
  const current = left[0];
  useEffect(() => {
    if (left.length < 3 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [left.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const pass = useCallback((id: string) => setPast((before) => new Set([...before, id])), []);
  const mark = useMutation({
    mutationFn: ({ id, wasRight }: { id: string; wasRight: boolean }) => markVerdict(id, wasRight, ""),
    onSuccess: (made, { id }) => {
      setLast({ id, mark: made.id });
      pass(id);
    },
  });
  const undo = useMutation({
    mutationFn: ({ id, mark }: Marked) => withdrawMark(id, mark),
    onSuccess: (_, { id }) => {
      setLast(null);
      setPast((before) => new Set([...before].filter((each) => each !== id)));
    },
  });
  const say = (wasRight: boolean) => {
    if (current && !mark.isPending) mark.mutate({ id: current.evaluation.id, wasRight });
  };
  const skip = () => current && pass(current.evaluation.id);
  const back = () => last && !undo.isPending && undo.mutate(last);
  useQueueKeys({ say, skip, back, onEnd });
  const error = mark.error ?? undo.error;

  if (verdicts.isPending) return <LoadingState what="the verdicts" />;
  if (!verdicts.data)
    return (
      <ErrorState error={verdicts.error} what="load the verdicts" onRetry={() => void verdicts.refetch()} />
    );
  return (
    <section aria-label="Verdicts to mark" className="flex flex-col gap-3" data-mark-queue>
      <div className="flex flex-wrap items-center gap-2">
        <Allowed needs="reviewer" disabled={!current || mark.isPending} onClick={() => say(true)}>
          Right <kbd>y</kbd>
        </Allowed>
        <Allowed needs="reviewer" disabled={!current || mark.isPending} onClick={() => say(false)}>
          Wrong <kbd>n</kbd>
        </Allowed>
        <Button disabled={!current} onClick={skip}>
          Leave out <kbd>s</kbd>
        </Button>
        <Button disabled={!last || undo.isPending} onClick={back}>
          Undo <kbd>z</kbd>
        </Button>
        <Button className="ml-auto" onClick={onEnd}>
          Back to the list
        </Button>
      </div>
      <p role="status" className="text-muted">
        {current ? `${plural(past.size, "verdict")} done.` : ""}
      </p>
      {error && (
        <p role="alert" className="theirs text-failed">
          {explain(error, "save the mark").text}
        </p>
      )}
      {current ? <Current name={name} verdict={current} /> : <Done more={hasNextPage} />}
    </section>
  );
}

function canMark({ evaluation }: Verdict, past: ReadonlySet<string>): boolean {
  return (evaluation.status === "passed" || evaluation.status === "failed") && !past.has(evaluation.id);
}

function Current({ name, verdict }: { name: string; verdict: Verdict }) {
  const { evaluation, run_id: id, run_name: run, phase, attempt } = verdict;
  return (
    <article aria-label={`Verdict on ${run}`} className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-3">
        <span className="font-medium">
          {name} {evaluation.status} this. Was it right?
        </span>
        <Link
          to="/sprints/$id"
          params={{ id }}
          search={{ phase: phase as "coding", attempt, evaluator: name }}
        >
          <UntrustedText text={run} />
        </Link>
        <span className="text-muted">
          {phase} attempt {attempt}
        </span>
        <Link to="/sprints/$id/diff" params={{ id }} search={{ phase: phase as "coding", attempt }}>
          Diff
        </Link>
      </p>
      <Evidence key={evaluation.id} evaluation={evaluation} open />
    </article>
  );
}

function Done({ more }: { more: boolean }) {
  if (more) return <LoadingState what="more verdicts" />;
  return (
    <EmptyState title="No verdicts left to mark">
      <p>Every verdict of this evaluator that passed or failed has a mark, or you left it out.</p>
    </EmptyState>
  );
}

interface Keys {
  say: (wasRight: boolean) => void;
  skip: () => void;
  back: () => void;
  onEnd: () => void;
}

function useQueueKeys(given: Keys): void {
  const latest = useRef(given);
  useEffect(() => {
    latest.current = given;
  });
  const offered = useMemo<readonly Action[]>(() => {
    const group = "Marking";
    return [
      {
        id: "mark-right",
        label: "The verdict was right",
        keys: "y",
        group,
        run: () => latest.current.say(true),
      },
      {
        id: "mark-wrong",
        label: "The verdict was wrong",
        keys: "n",
        group,
        run: () => latest.current.say(false),
      },
      {
        id: "mark-skip",
        label: "Leave this verdict out",
        keys: "s",
        group,
        run: () => latest.current.skip(),
      },
      { id: "mark-undo", label: "Undo the last mark", keys: "z", group, run: () => latest.current.back() },
      { id: "mark-end", label: "Back to the list", keys: "q", group, run: () => latest.current.onEnd() },
    ];
  }, []);
  useActions(offered);
}
