/** What evaluators found in one attempt: what did not pass is open, what passed is folded up. */
import { formatDuration, formatScore } from "@/lib/format";
import { byAttention, furtherSuggestions, isScored, shownMetadata } from "@/lib/evidence";
import { partOf } from "@/lib/gates";
import type { Attempt, Evaluation } from "@/lib/queries/runs";
import { plainLines, plainText } from "@/lib/text/ansi";

import { CodeSpans } from "./CodeSpans";
import { ForReviewers } from "./ForReviewers";
import { StatusBadge } from "./StatusBadge";
import { UntrustedBlock } from "./UntrustedBlock";
import { UntrustedText } from "./UntrustedText";

interface Props {
  attempt: Attempt;
  /** Comes first and is open, whatever its verdict. */
  evaluator?: string | undefined;
  /** The run is paused: nothing works on an attempt without verdict. */
  isPaused?: boolean;
}

export function EvidencePanel({ attempt, evaluator, isPaused = false }: Props) {
  const ordered = byAttention(attempt.evaluations);
  const chosen = ordered.find((each) => each.evaluator === evaluator);
  const rest = ordered.filter((each) => each !== chosen);
  const open = rest.filter((each) => each.status === "failed" || each.status === "errored");
  const folded = rest.filter((each) => !open.includes(each));
  return (
    <section
      aria-label={`Evidence of ${attempt.phase} attempt ${attempt.number}`}
      className="flex flex-col gap-3"
    >
      <h2 className="flex flex-wrap items-center gap-2 font-semibold">
        <span className="first-letter:uppercase">
          {attempt.phase} attempt {attempt.number}
        </span>
        <StatusBadge
          status={attempt.verdict ?? (isPaused && attempt.completed_at === null ? "paused" : attempt.status)}
        />
        {attempt.score !== null && (
          <span className="font-normal text-muted">score {formatScore(attempt.score)}</span>
        )}
      </h2>
      {attempt.verdict_reason && (
        <p className="theirs text-muted">
          <CodeSpans text={attempt.verdict_reason} />
        </p>
      )}
      {attempt.last_error && <LastError attempt={attempt} />}
      {ordered.length === 0 && <p className="text-muted">Not evaluated yet.</p>}
      {chosen && <Evidence key={chosen.id} evaluation={chosen} open />}
      {open.map((each) => (
        <Evidence key={each.id} evaluation={each} open />
      ))}
      {folded.length > 0 && (
        <div className="card divide-y divide-line">
          {folded.map((each) => (
            <Evidence key={each.id} evaluation={each} open={false} look="" />
          ))}
        </div>
      )}
    </section>
  );
}

/** An error that a verdict followed is history; without a verdict it is why nothing goes on. */
function LastError({ attempt }: { attempt: Attempt }) {
  if (attempt.verdict === null) return <UntrustedBlock text={attempt.last_error} className="card p-2" />;
  return (
    <p className="theirs text-muted" data-history>
      Earlier try: <UntrustedText text={firstLine(attempt.last_error)} /> Repeated: {attempt.verdict}.
    </p>
  );
}

function firstLine(text: string): string {
  const line = plainText(text.trim().split("\n")[0] ?? "");
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

interface EvidenceProps {
  evaluation: Evaluation;
  open: boolean;
  /** A separate box, unless it is one of several in a box. */
  look?: "card" | "";
}

export function Evidence({ evaluation, open, look = "card" }: EvidenceProps) {
  const further = furtherSuggestions(evaluation);
  return (
    <details className={look} open={open} data-evaluator={evaluation.evaluator}>
      <summary className="flex min-h-8 cursor-pointer flex-wrap items-center gap-x-3 px-3 py-1">
        <StatusBadge status={evaluation.status} />
        <span className="font-medium">{evaluation.evaluator}</span>
        <span className="text-muted">
          {partOf(evaluation)}
          {isScored(evaluation) && ` · score ${formatScore(evaluation.score)}`}
          {evaluation.duration_ms !== null && ` · ${formatDuration(evaluation.duration_ms)}`}
        </span>
      </summary>
      <div className="flex flex-col gap-2 border-t border-line p-3">
        <UntrustedBlock text={evaluation.feedback} empty="No feedback." />
        <Criteria evaluation={evaluation} />
        <ForReviewers metadata={evaluation.metadata} />
        {further.length > 0 && (
          <>
            <h3 className="font-medium">Suggestions</h3>
            <ul className="list-disc pl-5">
              {further.map((each, index) => (
                <li key={index} className="theirs">
                  {plainLines(each)}
                </li>
              ))}
            </ul>
          </>
        )}
        <details>
          <summary className="cursor-pointer text-muted">Details</summary>
          <UntrustedBlock
            className="mt-1"
            text={JSON.stringify(
              { version: evaluation.version, ...shownMetadata(evaluation.metadata) },
              null,
              2,
            )}
          />
        </details>
      </div>
    </details>
  );
}

function Criteria({ evaluation }: { evaluation: Evaluation }) {
  // What the feedback says already is not said again.
  const failing = evaluation.criteria.filter(
    (each) => !each.passed && !evaluation.feedback.includes(each.message),
  );
  if (failing.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1">
      {failing.map((each, index) => (
        <li key={index} className="flex flex-wrap gap-2">
          <StatusBadge status="failed" word={plainLines(each.criterion)} />
          <UntrustedText text={each.message} />
        </li>
      ))}
    </ul>
  );
}
