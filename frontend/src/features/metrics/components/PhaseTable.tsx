/** How each phase goes, and whole runs below. */
import { ShareCell } from "@/components/MetricTile";
import type { Metrics } from "@/lib/queries/metrics";

import { FigureTable } from "./FigureTable";

export function PhaseTable({ report }: { report: Metrics }) {
  return (
    <FigureTable
      title="By phase"
      note="The 95 % interval is below each share."
      columns={["Phase", "pass@1", "pass@2", "pass@3", "Retried", "Retries per phase", "Escalated"]}
    >
      {report.phases.map((each) => (
        <tr key={each.phase}>
          <th scope="row" className="capitalize">
            {each.phase}
          </th>
          <ShareCell share={each.passes.pass_at_1} />
          <ShareCell share={each.passes.pass_at_2} />
          <ShareCell share={each.passes.pass_at_3} />
          <ShareCell share={each.retries.retried} />
          <td className="number">{each.retries.mean === null ? "no data" : each.retries.mean.toFixed(2)}</td>
          <ShareCell share={each.escalated} />
        </tr>
      ))}
      <tr>
        <th scope="row">Whole runs</th>
        <ShareCell share={report.passes.pass_at_1} />
        <ShareCell share={report.passes.pass_at_2} />
        <ShareCell share={report.passes.pass_at_3} />
        <ShareCell share={report.retries.retried} />
        <td className="number">
          {report.retries.mean === null ? "no data" : report.retries.mean.toFixed(2)}
        </td>
        <ShareCell share={report.escalations.rate} />
      </tr>
    </FigureTable>
  );
}
