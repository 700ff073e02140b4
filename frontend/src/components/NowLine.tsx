/** One line that keeps its place and its height: where a run is, what it does, for how long, at which cost. */
import { activityOf, placeOf, spentOf } from "@/lib/activity";
import { formatCost, formatCount } from "@/lib/format";
import type { Run } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";
import { visible } from "@/lib/text/visible";

import { Elapsed } from "./RelativeTime";
import { StatusBadge } from "./StatusBadge";

interface Props {
  run: Run & { policy?: { budget: { cost_usd: number | null; tokens: number | null } } };
  events: readonly RunEvent[];
}

export function NowLine({ run, events }: Props) {
  const activity = activityOf(run, events);
  const place = placeOf(run);
  const text = visible(activity.text);
  const spent = spentOf(run, formatCost, formatCount);
  return (
    <section
      aria-label="Now"
      className="flex h-9 items-center gap-2 overflow-hidden border-b border-line px-3 whitespace-nowrap"
      data-now
    >
      {/* The word stands beside the title. */}
      <StatusBadge status={run.paused ? "paused" : run.status} compact />
      <span className="theirs min-w-0 flex-1 truncate text-muted" title={text}>
        {place && <span className="text-ink">{place} · </span>}
        {text}
      </span>
      <span className="min-w-20 shrink-0 text-right text-muted tabular-nums">
        {run.finished_at ? (
          <Elapsed from={run.created_at} to={run.finished_at} />
        ) : (
          activity.since && <Elapsed from={activity.since} to={null} />
        )}
      </span>
      {spent && <span className="shrink-0 text-right text-muted tabular-nums">{spent}</span>}
    </section>
  );
}
