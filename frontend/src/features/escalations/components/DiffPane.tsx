/** The diff of one attempt with its switches; every choice stands in the URL. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { Button } from "@/components/Button";
import type { CommentActions } from "@/components/diff/comment-actions";
import type { View } from "@/components/diff/DiffBlock";
import { DiffReview } from "@/components/diff/DiffReview";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { ApiError } from "@/lib/api/errors";
import type { LineComment } from "@/lib/diff/comments";
import { findingsOf } from "@/lib/diff/findings";
import { unrunOf } from "@/lib/diff/unrun";
import { type Against, attemptDiffQuery } from "@/lib/queries/diffs";
import type { Evaluation } from "@/lib/queries/runs";
import { type Action, useActions } from "@/lib/shortcuts";

export interface Shown {
  readonly against: Against;
  readonly view: View;
}

export interface DiffPaneProps {
  id: string;
  phase: string;
  number: number;
  /** Index of a candidate; the chosen one without it. */
  candidate?: number | undefined;
  shown: Shown;
  onShow: (change: Partial<Shown>) => void;
  comments: readonly LineComment[];
  /** What judged the attempt. Stable. */
  evaluations: readonly Evaluation[];
  actions: CommentActions | null;
}

export function DiffPane(props: DiffPaneProps) {
  const { id, phase, number, candidate, shown, onShow, comments, evaluations, actions } = props;
  const findings = useMemo(() => findingsOf(evaluations), [evaluations]);
  const unrun = useMemo(() => unrunOf(evaluations), [evaluations]);
  const of = useMemo(
    () => ({ id, phase, number, candidate, against: shown.against }),
    [id, phase, number, candidate, shown.against],
  );
  const { data, error, refetch } = useQuery(attemptDiffQuery(of));
  const { against, view } = shown;
  const offered = useMemo<readonly Action[]>(() => {
    const other = against === "base" ? "previous" : "base";
    return [
      {
        id: "diff-view",
        label: view === "unified" ? "Diff side by side" : "Diff in one column",
        keys: "u",
        group: "Diff",
        run: () => onShow({ view: view === "unified" ? "split" : "unified" }),
      },
      {
        id: "diff-against",
        label: other === "base" ? "Compare with the base" : "Compare with the previous attempt",
        keys: "b",
        group: "Diff",
        run: () => onShow({ against: other }),
      },
    ];
  }, [against, view, onShow]);
  useActions(offered);
  return (
    <section aria-label="Diff" className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="font-semibold">
          Diff of attempt {number}
          {candidate !== undefined && `, candidate ${candidate + 1}`}
        </h2>
        <Switch
          label="Compare with"
          chosen={against}
          choices={{ base: "base", previous: "previous attempt" }}
          onChoose={(each) => onShow({ against: each })}
        />
        <Switch
          label="Layout"
          chosen={view}
          choices={{ unified: "unified", split: "split" }}
          onChoose={(each) => onShow({ view: each })}
        />
      </div>
      {error ? <Refused error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error && <LoadingState what="the diff" />}
      {data && (
        <DiffReview
          key={[id, phase, number, candidate ?? "", against].join(".")}
          of={of}
          diff={data}
          view={view}
          comments={comments}
          findings={findings}
          unrun={unrun}
          actions={actions}
        />
      )}
    </section>
  );
}

function Refused({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (error instanceof ApiError && error.status === 409) {
    return (
      <EmptyState title="No diff">
        <p>{error.problem.detail}.</p>
      </EmptyState>
    );
  }
  return <ErrorState error={error} what="load the diff" onRetry={onRetry} />;
}

interface SwitchProps<T extends string> {
  label: string;
  chosen: T;
  choices: Record<T, string>;
  onChoose: (choice: T) => void;
}

function Switch<T extends string>({ label, chosen, choices, onChoose }: SwitchProps<T>) {
  return (
    <div role="group" aria-label={label} className="flex items-center gap-1">
      <span className="text-muted" aria-hidden>
        {label}
      </span>
      {(Object.keys(choices) as T[]).map((each) => (
        <Button
          key={each}
          aria-pressed={chosen === each}
          className="pressable"
          onClick={() => onChoose(each)}
        >
          {choices[each]}
        </Button>
      ))}
    </div>
  );
}
