/** What the attempts at an answer came to, and what accepting would give. */
import { useQuery } from "@tanstack/react-query";

import { AnswerAttempt } from "@/components/AnswerAttempt";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { UntrustedList } from "@/components/UntrustedList";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import { answerQuery } from "@/lib/queries/answers";
import type { EscalationDetail } from "@/lib/queries/escalations";

export function AnswerPane({ escalation }: { escalation: EscalationDetail }) {
  const { data, error, refetch } = useQuery(answerQuery(escalation.run_id));
  if (!data)
    return error ? (
      <ErrorState error={error} what="load the attempts" onRetry={() => void refetch()} />
    ) : (
      <LoadingState what="the attempts" />
    );
  const until = data.attempts.filter((each) => each.number <= escalation.attempt).toReversed();
  if (until.length === 0) {
    return (
      <EmptyState title="No attempts yet">
        <p>No text is written yet, so there is nothing to accept.</p>
      </EmptyState>
    );
  }
  return (
    <section aria-labelledby="produced" className="flex flex-col gap-3">
      {escalation.would_give && <WouldGive given={escalation.would_give} />}
      <h2 id="produced" className="font-semibold">
        Attempts
      </h2>
      {until.map((each) => (
        <AnswerAttempt
          key={each.number}
          attempt={each}
          given={data.entries.length}
          open={each.number === escalation.attempt}
        />
      ))}
    </section>
  );
}

function WouldGive({ given }: { given: NonNullable<EscalationDetail["would_give"]> }) {
  return (
    <div className="card flex flex-col gap-2 p-3" data-would-give>
      <h2 className="font-semibold">Result if accepted</h2>
      {given.answer === null ? (
        <p>No answer: every attempt broke the safety rules.</p>
      ) : (
        <UntrustedBlock text={given.answer} />
      )}
      {given.gaps.length > 0 && <UntrustedList title="Gaps" items={given.gaps} />}
    </div>
  );
}
