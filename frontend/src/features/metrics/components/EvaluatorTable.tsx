/** What each evaluator said, how long it took, and how often reviewers found it wrong. */
import { Link } from "@tanstack/react-router";

import { ShareCell } from "@/components/MetricTile";
import { StatusBadge } from "@/components/StatusBadge";
import { formatCount } from "@/lib/format";
import type { EvaluatorMetrics, MetricShare } from "@/lib/queries/metrics";
import { formatCases, describeLatency, formatShare, runsBehind } from "@/lib/shares";

import { FigureTable } from "./FigureTable";

const STATUSES = ["passed", "failed", "errored", "skipped"] as const;

export function EvaluatorTable({ evaluators }: { evaluators: readonly EvaluatorMetrics[] }) {
  return (
    <FigureTable
      title="Evaluators"
      note="Wrong passes and wrong fails are shares of the marked verdicts. Reviewers mostly mark escalated ones."
      columns={["Evaluator", "Verdicts", "Outcomes", "Latency p50 / p95", "Wrong passes", "Wrong fails"]}
    >
      {evaluators.length === 0 && (
        <tr>
          <td colSpan={6} className="text-muted">
            No verdicts yet.
          </td>
        </tr>
      )}
      {evaluators.map((each) => (
        <tr key={each.evaluator}>
          <th scope="row">
            <Link to="/evaluators/$name" params={{ name: each.evaluator }} className="underline">
              {each.evaluator}
            </Link>{" "}
            <span className="text-muted">{each.gate ? "gate" : "adviser"}</span>
          </th>
          <td className="number">{formatCount(each.verdicts)}</td>
          <td className="number whitespace-nowrap">
            <span className="inline-flex flex-wrap justify-end gap-x-3">
              {STATUSES.map((status) => (
                <Said key={status} status={status} share={each[status]} />
              ))}
            </span>
          </td>
          <td className="number whitespace-nowrap">
            {describeLatency(each.latency)} <span className="text-muted">n = {each.latency.n}</span>
          </td>
          <ShareCell share={each.wrong_passes} />
          <ShareCell share={each.wrong_fails} />
        </tr>
      ))}
    </FigureTable>
  );
}

function Said({ status, share }: { status: string; share: MetricShare }) {
  if (share.count === 0) return null;
  return (
    <Link
      to="/"
      search={runsBehind(share.counted)}
      className="inline-flex min-h-7 items-center gap-1"
      title={`${status}: ${formatCases(share)}`}
    >
      <StatusBadge status={status} word={`${status} ${formatShare(share.value)}`} />
    </Link>
  );
}
