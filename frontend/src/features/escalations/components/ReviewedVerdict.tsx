/** One evaluator's verdict with its evidence, how far it can be trusted, and whether it was right. */
import { Link } from "@tanstack/react-router";

import { ForReviewers } from "@/components/ForReviewers";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import { UntrustedText } from "@/components/UntrustedText";
import type { Schemas } from "@/lib/api/client";
import { findingId, findingsOf } from "@/lib/diff/findings";
import { furtherSuggestions, isScored } from "@/lib/evidence";
import { formatDuration, formatScore } from "@/lib/format";
import { partOf } from "@/lib/gates";
import type { Evaluation } from "@/lib/queries/runs";
import { plainLines, plainText } from "@/lib/text/ansi";

import { trackRecordText } from "../labels";

import { MarkVerdict } from "./MarkVerdict";

/** The failures stand above what the gate printed: a button shows the rest. */
const OUTPUT_LINES = 8;

interface Props {
  evaluation: Evaluation;
  record: Schemas["TrackRecord"] | undefined;
  open: boolean;
  /** Files of the diff on the same page. */
  changed: readonly string[];
}

export function ReviewedVerdict({ evaluation, record, open, changed }: Props) {
  const further = furtherSuggestions(evaluation);
  const failing = evaluation.criteria.filter((each) => !each.passed);
  return (
    <details
      id={`verdict-${evaluation.evaluator}`}
      className="card scroll-mt-28"
      open={open}
      data-evaluator={evaluation.evaluator}
    >
      <summary className="flex min-h-8 cursor-pointer flex-wrap items-center gap-x-2 px-3 py-1">
        <StatusBadge status={evaluation.status} />
        <span className="font-medium">{evaluation.evaluator}</span>
        <span className="text-muted">
          {partOf(evaluation)}
          {isScored(evaluation) && ` · ${formatScore(evaluation.score)}`}
          {evaluation.duration_ms !== null && ` · ${formatDuration(evaluation.duration_ms)}`}
        </span>
      </summary>
      <div className="flex flex-col gap-2 border-t border-line p-3">
        <UntrustedBlock text={evaluation.feedback} empty="No feedback." />
        {failing.length > 0 && (
          <ul className="flex flex-col gap-2">
            {failing.map((each, index) => (
              <li key={index}>
                <StatusBadge status="failed" word={plainText(each.criterion)} />
                {each.message && !evaluation.feedback.includes(each.message) && (
                  <UntrustedBlock text={each.message} />
                )}
                {each.evidence && <UntrustedBlock text={each.evidence} most={OUTPUT_LINES} />}
              </li>
            ))}
          </ul>
        )}
        <ForReviewers metadata={evaluation.metadata} />
        <Places evaluation={evaluation} changed={changed} />
        {further.length > 0 && (
          <ul className="list-disc pl-5">
            {further.map((each, index) => (
              <li key={index} className="theirs">
                {plainLines(each)}
              </li>
            ))}
          </ul>
        )}
        {record && (
          <p className="text-xs text-muted">
            <Link to="/evaluators/$name" params={{ name: evaluation.evaluator }}>
              <UntrustedText text={evaluation.evaluator} />
            </Link>{" "}
            {trackRecordText(record)}.
          </p>
        )}
        <MarkVerdict evaluation={evaluation} />
      </div>
    </details>
  );
}

/** The lines of the diff that a verdict speaks of; the way back is in the diff. */
function Places({ evaluation, changed }: Pick<Props, "evaluation" | "changed">) {
  const byPath = findingsOf([evaluation]);
  const found = changed.flatMap((path) => byPath.get(path) ?? []);
  if (found.length === 0) return null;
  return (
    <p className="flex flex-wrap gap-x-3">
      <span className="text-muted">In the diff</span>
      {found.map(({ path, line }) => (
        <a key={`${path}:${line}`} href={`#${findingId(path, line)}`} className="mono">
          {path}:{line}
        </a>
      ))}
    </p>
  );
}
