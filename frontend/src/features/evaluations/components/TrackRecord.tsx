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
        Of its newest {formatCount(record.verdicts)} verdicts; marks are of all of them. Reviewers mark mostly
        what escalated.
      </p>
      <dl className="card grid gap-x-6 gap-y-1 p-3 sm:grid-cols-[max-content_1fr]">
        {STATUSES.map((status) => (
          <Row key={status} share={record[status]}>
            <StatusBadge status={status} />
          </Row>
        ))}
        <Row share={record.marked.false_passes}>False passes, of the passes that were marked</Row>
        <Row share={record.marked.false_fails}>False fails, of the fails that were marked</Row>
        <dt>Time, half / 95 % within</dt>
        <dd>
          {describeLatency(record.latency)} <span className="text-muted">n = {record.latency.n}</span>
        </dd>
        <dt>Versions</dt>
        <dd>
          {versions.length === 0
            ? "none has judged yet"
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
