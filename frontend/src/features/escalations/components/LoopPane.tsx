/** What the iterations of a loop came to, the one that a person is asked about first. */
import { useQuery } from "@tanstack/react-query";

import { LoopIteration } from "@/components/LoopIteration";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import type { EscalationDetail } from "@/lib/queries/escalations";
import { loopQuery } from "@/lib/queries/loops";

export function LoopPane({ escalation }: { escalation: EscalationDetail }) {
  const { data, error, refetch } = useQuery(loopQuery(escalation.run_id));
  if (!data)
    return error ? (
      <ErrorState error={error} what="load the iterations" onRetry={() => void refetch()} />
    ) : (
      <LoadingState what="the iterations" />
    );
  const asked = data.iterations.find((each) => each.iteration === escalation.attempt);
  const before = data.iterations.filter((each) => each.iteration < escalation.attempt).toReversed();
  if (!asked) {
    return (
      <EmptyState title="No iterations yet">
        <p>The loop has not started, so there is nothing to accept.</p>
      </EmptyState>
    );
  }
  return (
    <section aria-labelledby="produced" className="flex flex-col gap-3">
      <h2 id="produced" className="font-semibold">
        Escalated iteration
      </h2>
      <LoopIteration iteration={asked} open />
      {before.length > 0 && <h2 className="font-semibold">Earlier iterations</h2>}
      {before.map((each) => (
        <LoopIteration key={each.iteration} iteration={each} open={false} />
      ))}
    </section>
  );
}
