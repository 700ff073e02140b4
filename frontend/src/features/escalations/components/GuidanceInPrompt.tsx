/** What a retry told the next attempt: shown from that attempt's own prompt, not from what was typed. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { ErrorState } from "@/components/states";
import { StatusBadge } from "@/components/StatusBadge";
import { KINDS } from "@/lib/kinds";
import type { EscalationDetail } from "@/lib/queries/escalations";
import { attemptQuery } from "@/lib/queries/runs";
import { visible } from "@/lib/text/visible";

import { TRY, TRY_TITLE } from "../consequences";
import { reached } from "../guidance-in-prompt";

export function GuidanceInPrompt({ escalation }: { escalation: EscalationDetail }) {
  const next = escalation.attempts.find((each) => each.number > escalation.attempt);
  const { data, error, refetch } = useQuery({
    ...attemptQuery(escalation.run_id, escalation.phase, next?.number ?? 0),
    enabled: next !== undefined,
  });
  if (escalation.decision !== "retry") return null;
  const title = `Prompt for the next ${TRY[escalation.kind]}`;
  const told = data && reached(data.prompt, escalation);
  const added = (data?.prompt_changes ?? []).filter((each) => each.kind === "added");
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="font-semibold">{title}</h2>
      {!next && <p className="text-muted">It has not started yet.</p>}
      {error && <ErrorState error={error} what="load the prompt" onRetry={() => void refetch()} />}
      {told && next && (
        <>
          <p className="flex flex-wrap items-center gap-2">
            {told.missing.length === 0 ? (
              <StatusBadge status="passed" word="All you wrote is in its prompt" />
            ) : (
              <StatusBadge status="errored" word={`Not found in its prompt: ${told.missing.join(", ")}`} />
            )}
            <ToAttempt escalation={escalation} number={next.number} />
          </p>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre className="theirs card max-h-96 overflow-auto p-3" tabIndex={0} data-told>
            {added.map((each, index) => (
              <ins key={index} className="block bg-added-tint no-underline">
                {visible(each.text)}
              </ins>
            ))}
          </pre>
        </>
      )}
    </section>
  );
}

function ToAttempt({
  escalation: { kind, run_id: id, phase },
  number,
}: {
  escalation: EscalationDetail;
  number: number;
}) {
  const isSprint = kind === "sprint";
  return (
    <Link
      to={KINDS[kind].page}
      params={{ id }}
      search={{ ...(isSprint ? { phase: phase as "coding", tab: "prompt" } : {}), attempt: number }}
      className="underline"
    >
      {TRY_TITLE[kind]} {number}
      {isSprint && ", full prompt"}
    </Link>
  );
}
