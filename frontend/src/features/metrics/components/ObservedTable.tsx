/** What observed gates saw: what they would have blocked, and what people said to that. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { PlainShareCell } from "@/components/PlainShare";
import { explain } from "@/components/states";
import { formatCount, formatMoment } from "@/lib/format";
import { type MetricScope, observedQuery } from "@/lib/queries/metrics";

import { FigureTable } from "./FigureTable";

const COLUMNS = [
  "Gate",
  "Verdicts",
  "Would have blocked",
  "Runs",
  "Overruled",
  "Confirmed",
  "Observed since",
];

export function ObservedTable({ scope }: { scope: MetricScope }) {
  const { data, error } = useQuery(observedQuery(scope));
  if (error) {
    return (
      <p role="alert" className="text-failed">
        {explain(error, "load what observed gates saw").text}
      </p>
    );
  }
  if (!data || data.gates.length === 0) return null;
  return (
    <FigureTable
      title="Observed gates"
      note="They block nothing yet. Overruled and confirmed are shares of what they would have blocked."
      columns={COLUMNS}
    >
      {data.gates.map((each) => (
        <tr key={each.evaluator} data-observed={each.evaluator}>
          <th scope="row">
            <Link to="/evaluators/$name" params={{ name: each.evaluator }} className="underline">
              {each.evaluator}
            </Link>
          </th>
          <td className="number">{formatCount(each.verdicts)}</td>
          <PlainShareCell share={each.would_block} />
          <td className="number">{formatCount(each.runs)}</td>
          <PlainShareCell share={each.overruled} />
          <PlainShareCell share={each.confirmed} />
          <td className="number whitespace-nowrap">{formatMoment(each.first_at)}</td>
        </tr>
      ))}
    </FigureTable>
  );
}
