/** One verdict: on what, what was said, and whether reviewers found it right. */
import { Link } from "@tanstack/react-router";

import { Evidence } from "@/components/EvidencePanel";
import { RelativeTime } from "@/components/RelativeTime";
import { UntrustedText } from "@/components/UntrustedText";
import type { Verdict } from "@/lib/queries/metrics";

import { VerdictMarks } from "./VerdictMarks";

export function VerdictEntry({ name, verdict }: { name: string; verdict: Verdict }) {
  const { evaluation, run_id, run_name, phase, attempt, chosen } = verdict;
  return (
    <article
      className="card flex flex-col"
      aria-label={`${evaluation.status}: ${run_name}, ${phase} attempt ${attempt}`}
    >
      <p className="flex flex-wrap items-center gap-x-3 border-b border-line px-3 py-1.5 text-muted">
        <Link
          to="/sprints/$id"
          params={{ id: run_id }}
          search={{ phase: phase as "coding", attempt, evaluator: name }}
          className="font-medium text-ink"
        >
          <UntrustedText text={run_name} />
        </Link>
        <span>
          {phase} attempt {attempt}
          {!chosen && ", a candidate that was not chosen"}
        </span>
        <span className="ml-auto">
          <RelativeTime at={evaluation.evaluated_at} />
        </span>
      </p>
      <Evidence evaluation={evaluation} open={false} look="" />
      <VerdictMarks evaluation={evaluation} />
    </article>
  );
}
