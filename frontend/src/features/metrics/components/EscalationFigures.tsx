/** Why people were asked, what they decided, and how long it took. */
import { Link } from "@tanstack/react-router";

import { ShareCell } from "@/components/MetricTile";
import { StatusBadge } from "@/components/StatusBadge";
import type { Schemas } from "@/lib/api/client";
import { plural } from "@/lib/format";
import type { Metrics } from "@/lib/queries/metrics";
import { REASONS } from "@/lib/reasons";
import { describeLatency } from "@/lib/shares";

import { FigureTable } from "./FigureTable";

export function EscalationFigures({ figures }: { figures: Metrics["escalations"] }) {
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-6 lg:grid-cols-2">
        <FigureTable title="Escalation reasons" columns={["Reason", "Share of finished or escalated runs"]}>
          {Object.entries(figures.reasons).map(([reason, share]) => (
            <tr key={reason}>
              <th scope="row">{REASONS[reason as Schemas["EscalationReason"]]}</th>
              <ShareCell share={share} />
            </tr>
          ))}
        </FigureTable>
        <FigureTable title="Decisions" columns={["Decision", "Share of resolved escalations"]}>
          {Object.entries(figures.decisions).map(([decision, share]) => (
            <tr key={decision}>
              <th scope="row">
                <StatusBadge status={decision} word={decision} />
              </th>
              <ShareCell share={share} />
            </tr>
          ))}
        </FigureTable>
      </div>
      <p>
        Time to decision p50 / p95: <strong>{describeLatency(figures.time_to_decision)}</strong>{" "}
        <span className="text-muted">n = {figures.time_to_decision.n}</span>
        {figures.open > 0 && (
          <>
            {" · "}
            <Link to="/escalations">{plural(figures.open, "escalation")} open now</Link>
          </>
        )}
      </p>
    </div>
  );
}
