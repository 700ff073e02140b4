/** An evaluator's track record: shares with their intervals, latency, versions. */
import { StatusBadge } from "@/components/StatusBadge";
import { formatCount } from "@/lib/format";
import type { Share } from "@/lib/queries/metrics";
import type { Schemas } from "@/lib/api/client";
import { describeLatency, formatCases, formatInterval, formatShare } from "@/lib/shares";

const STATUSES = ["passed", "failed", "errored", "skipped"] as const;

export function TrackRecord({ evaluator }: { evaluator: Schemas["EvaluatorDetail"] }) {
  const { record, versions } = evaluator;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">
        Statuses count{" "}
        {record.verdicts === 1 ? "the only verdict" : `the latest ${formatCount(record.verdicts)} verdicts`},
        marks count all. Reviewers mostly mark escalated verdicts.
      </p>
      <dl className="card grid gap-x-6 gap-y-1 p-3 sm:grid-cols-[max-content_1fr]">
        {STATUSES.map((status) => (
          <Row key={status} share={record[status]}>
            <StatusBadge status={status} />
          </Row>
        ))}
        <Row share={record.marked.wrong_passes}>Wrong passes, of marked passes</Row>
        <Row share={record.marked.wrong_fails}>Wrong fails, of marked fails</Row>
        <dt>Latency p50 / p95</dt>
        <dd>
          {describeLatency(record.latency)} <span className="text-muted">n = {record.latency.n}</span>
        </dd>
        <dt>Versions</dt>
        <dd>
          {versions.length === 0
            ? "no verdicts yet"
            : versions.map((each) => `${each.version} (${formatCount(each.verdicts)})`).join(", ")}
        </dd>
      </dl>
    </div>
  );
}

function Row({ share, children }: { share: Share; children: React.ReactNode }) {
  return (
    <>
      <dt>{children}</dt>
      <dd className={share.value === null ? "text-muted" : ""}>
        {share.value === null
          ? "no data"
          : `${formatShare(share.value)}: ${formatCases(share)}, 95 % interval ${formatInterval(share)}`}
      </dd>
    </>
  );
}
