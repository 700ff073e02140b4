/** What became of the pull requests of delivered results. */
import { ShareCell } from "@/components/MetricTile";
import { plural } from "@/lib/format";
import type { Metrics } from "@/lib/queries/metrics";

import { FigureTable } from "./FigureTable";

export function OutcomeTable({ outcomes }: { outcomes: Metrics["outcomes"] }) {
  const recent = Object.entries(outcomes.recent).filter(([, count]) => count > 0);
  const settled = Object.values(outcomes.shares).some((share) => share.of > 0);
  if (!settled && recent.length === 0 && outcomes.uncompared === 0) return null;
  return (
    <section aria-label="Outcomes" className="flex min-w-0 flex-col gap-2" data-outcomes>
      <FigureTable
        title="Outcomes of pull requests"
        note="Only pull requests that ended at least 30 days ago count."
        columns={["Outcome", "Share of ended pull requests"]}
      >
        {Object.entries(outcomes.shares).map(([outcome, share]) => (
          <tr key={outcome} data-outcome={outcome}>
            <th scope="row">{inWords(outcome)}</th>
            <ShareCell share={share} />
          </tr>
        ))}
      </FigureTable>
      <p className="text-muted">
        {outcomes.edited_share !== null &&
          `Half of the merges changed at most ${Math.round(outcomes.edited_share * 100)} % of the lines. `}
        {recent.length > 0 &&
          `Ended since: ${recent.map(([outcome, count]) => `${count} ${inWords(outcome)}`).join(", ")}. `}
        {outcomes.uncompared > 0 && `${plural(outcomes.uncompared, "merge")} not compared yet.`}
      </p>
    </section>
  );
}

const inWords = (outcome: string): string => outcome.replaceAll("_", " ");
