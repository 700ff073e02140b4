/** One share: its value, how many cases it rests on, how sure it is, and the way to its runs. */
import { Link } from "@tanstack/react-router";

import type { MetricShare } from "@/lib/queries/metrics";
import { formatCases, formatInterval, formatShare, runsBehind } from "@/lib/shares";

interface Props {
  title: string;
  /** What is counted, in a few words. */
  what: string;
  share: MetricShare;
}

export function MetricTile({ title, what, share }: Props) {
  return (
    <section className="card flex flex-col gap-1 p-3" aria-label={title} data-metric={title}>
      <h3 className="font-semibold">{title}</h3>
      <p className="text-muted">{what}</p>
      <p className={share.value === null ? "text-2xl text-muted" : "text-2xl font-semibold"}>
        {formatShare(share.value)}
      </p>
      <Interval share={share} />
      <ShareCases share={share} />
    </section>
  );
}

/** Where the value lies between none and all, and how far it may be off. */
export function Interval({ share }: { share: MetricShare }) {
  if (share.value === null || share.low === null || share.high === null) {
    return <div aria-hidden className="hatched h-2 rounded-md border border-line" />;
  }
  return (
    <svg aria-hidden viewBox="0 0 100 8" preserveAspectRatio="none" className="h-2 w-full">
      <rect x="0" y="3" width="100" height="2" fill="var(--line)" />
      <rect
        x={share.low * 100}
        y="1"
        width={Math.max(0.5, (share.high - share.low) * 100)}
        height="6"
        fill="var(--muted)"
        opacity="0.5"
      />
      <rect x={Math.min(98.5, share.value * 100)} y="0" width="1.5" height="8" fill="var(--ink)" />
    </svg>
  );
}

/** `9 of 11, 95 % interval 52 % to 95 %`; the numbers lead to their runs. */
export function ShareCases({ share }: { share: MetricShare }) {
  if (share.of === 0) return <p className="text-muted">n = 0</p>;
  return (
    <p className="text-muted">
      <RunsLink query={share.counted} text={String(share.count)} what="counted runs" /> of{" "}
      <RunsLink query={share.considered} text={String(share.of)} what="considered runs" />, 95 % interval{" "}
      {formatInterval(share)}
    </p>
  );
}

/** A share in a table's cell. */
export function ShareCell({ share }: { share: MetricShare }) {
  if (share.value === null) return <td className="number text-muted">no data</td>;
  return (
    <td className="number whitespace-nowrap">
      <Link to="/" search={runsBehind(share.counted)} className="underline">
        {formatShare(share.value)}
      </Link>{" "}
      <span className="text-muted">{formatCases(share)}</span>
      <span className="block text-xs text-muted">{formatInterval(share)}</span>
    </td>
  );
}

function RunsLink({ query, text, what }: { query: string; text: string; what: string }) {
  return (
    <Link to="/" search={runsBehind(query)} className="text-ink underline">
      {text}
      <span className="sr-only"> {what}</span>
    </Link>
  );
}
