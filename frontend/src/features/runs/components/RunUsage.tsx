/** What a run consumed by attempt and model, and what is left of its budgets. */
import { useQuery } from "@tanstack/react-query";

import { UntrustedText } from "@/components/UntrustedText";
import { formatCost, formatCount } from "@/lib/format";
import { runUsageQuery, type RunUsage as Usage } from "@/lib/queries/runs";

type Part = Usage["parts"][number];
type Budget = NonNullable<Usage["budgets"]>[number];

const SCOPES: Record<Budget["scope"], string> = {
  run: "this run",
  project_day: "the project, today (UTC)",
  installation_day: "all projects, today (UTC)",
};

export function RunUsage({ id }: { id: string }) {
  const usage = useQuery(runUsageQuery(id));
  if (usage.error) return <p className="text-muted">The usage cannot be loaded.</p>;
  if (!usage.data) return <p className="text-muted">Loading …</p>;
  const { parts, budgets = [] } = usage.data;
  return (
    <div className="flex flex-col gap-2">
      {budgets.map((each) => (
        <p key={`${each.scope} ${each.unit}`}>{budgetWords(each)}</p>
      ))}
      {parts.length === 0 ? (
        <p className="text-muted">No model was asked so far.</p>
      ) : (
        <div className="overflow-x-auto">
          <table className="text-left">
            <thead className="text-muted">
              <tr>
                {["Attempt", "Role", "Model", "Cost", "Tokens in", "Tokens out", "Requests"].map((name) => (
                  <th key={name} scope="col" className="pr-4 font-normal">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {parts.map((part) => (
                <Row key={keyOf(part)} part={part} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Row({ part }: { part: Part }) {
  const candidate = part.candidate ? `, candidate ${part.candidate + 1}` : "";
  return (
    <tr>
      <td className="pr-4">{part.phase ? `${part.phase} ${part.attempt ?? ""}${candidate}` : "–"}</td>
      <td className="pr-4">{part.role}</td>
      <td className="pr-4">
        <UntrustedText text={part.model || "as the agent reports"} />
      </td>
      <td className="pr-4">{formatCost(part.cost_usd)}</td>
      <td className="pr-4">{formatCount(part.input_tokens)}</td>
      <td className="pr-4">{formatCount(part.output_tokens)}</td>
      <td className="pr-4">{formatCount(part.requests)}</td>
    </tr>
  );
}

function keyOf(part: Part): string {
  return [part.run_id, part.phase, part.attempt, part.candidate, part.role, part.provider, part.model].join(
    " ",
  );
}

/** Such as `$0.43 of $2.00 (22 %) for this run`. */
function budgetWords({ scope, unit, spent, budget }: Budget): string {
  const share = Math.round((spent / budget) * 100);
  const amounts =
    unit === "usd"
      ? `${formatCost(spent)} of ${formatCost(budget)}`
      : `${formatCount(spent)} of ${formatCount(budget)} tokens`;
  return `Budget: ${amounts} (${share} %) for ${SCOPES[scope]}`;
}
