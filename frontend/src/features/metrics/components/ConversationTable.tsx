/** Whether retries pass more often when the agent continues its conversation, or begins a fresh one. */
import { PlainShareCell } from "@/components/PlainShare";
import type { Metrics } from "@/lib/queries/metrics";

import { FigureTable } from "./FigureTable";

export function ConversationTable({ conversations }: { conversations: Metrics["conversations"] }) {
  const compared = conversations.filter((each) => each.continued.of > 0);
  if (compared.length === 0) return null;
  return (
    <section aria-label="Retries by conversation" className="min-w-0" data-conversations>
      <FigureTable
        title="Retries by conversation"
        note="Share of retries that passed. Attempts that a person steered are left out."
        columns={["Agent", "Continued", "Fresh"]}
      >
        {compared.map((each) => (
          <tr key={each.agent} data-agent={each.agent}>
            <th scope="row">{each.agent}</th>
            <PlainShareCell share={each.continued} />
            <PlainShareCell share={each.fresh} />
          </tr>
        ))}
      </FigureTable>
    </section>
  );
}
