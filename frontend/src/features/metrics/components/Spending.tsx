/** What runs that are over consumed. An unknown cost is not zero. */
import { ShareCell } from "@/components/MetricTile";
import { formatCost, formatCount } from "@/lib/format";
import type { Metrics } from "@/lib/queries/metrics";
import { NO_DATA } from "@/lib/shares";

import { FigureTable } from "./FigureTable";

type Amount = Metrics["spend"]["cost_usd"];

export function Spending({ spend }: { spend: Metrics["spend"] }) {
  const rows: readonly [string, Amount, (value: number) => string][] = [
    ["Cost", spend.cost_usd, formatCost],
    ["Input tokens", spend.input_tokens, formatCount],
    ["Output tokens", spend.output_tokens, formatCount],
  ];
  return (
    <FigureTable
      title="Usage of finished runs"
      columns={["Measure", "Runs", "Total", "p50", "p95", "Known for"]}
    >
      {rows.map(([name, amount, format]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td className="number">{formatCount(amount.n)}</td>
          {[amount.total, amount.p50, amount.p95].map((value, index) => (
            <td key={index} className={value === null ? "number text-muted" : "number"}>
              {value === null ? NO_DATA : format(value)}
            </td>
          ))}
          {name === "Cost" ? (
            <ShareCell share={spend.cost_known} />
          ) : (
            <td className={amount.n === 0 ? "number text-muted" : "number"}>
              {amount.n === 0 ? NO_DATA : "all runs"}
            </td>
          )}
        </tr>
      ))}
    </FigureTable>
  );
}
