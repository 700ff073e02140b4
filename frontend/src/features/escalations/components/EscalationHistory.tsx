/** What was tried in this phase, and what people decided before. */
import { Link } from "@tanstack/react-router";

import { Cost } from "@/components/Cost";
import { RelativeTime } from "@/components/RelativeTime";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { formatScore } from "@/lib/format";
import { KINDS } from "@/lib/kinds";
import type { EscalationDetail } from "@/lib/queries/escalations";
import type { Attempt } from "@/lib/queries/runs";

import { placeOf, TRY_TITLE } from "../consequences";
import { DECISIONS } from "../labels";

export function EscalationHistory({ escalation }: { escalation: EscalationDetail }) {
  return (
    <div>
      <h2 className="font-semibold">{TRY_TITLE[escalation.kind]}s</h2>
      {escalation.attempts.length === 0 ? (
        <p className="text-muted">
          None. The {escalation.kind === "sprint" ? "phase" : KINDS[escalation.kind].word} had not started.
        </p>
      ) : (
        <ol className="flex flex-col gap-1">
          {escalation.attempts.map((each) => (
            <AttemptLine key={each.id} id={escalation.run_id} kind={escalation.kind} attempt={each} />
          ))}
        </ol>
      )}
      {escalation.earlier.length > 0 && (
        <>
          <h2 className="mt-3 font-semibold">Earlier decisions</h2>
          <ul className="flex flex-col gap-1">
            {escalation.earlier.map((each) => (
              <li key={each.id}>
                <Link
                  to="/escalations/$id"
                  params={{ id: each.id }}
                  className="inline-flex min-h-7 items-center underline"
                >
                  {each.decision ? DECISIONS[each.decision] : each.status}
                </Link>{" "}
                <span className="text-muted">
                  {placeOf(each)}
                  {each.decided_by && (
                    <>
                      {" "}
                      by <UntrustedText text={each.decided_by} />
                    </>
                  )}{" "}
                  <RelativeTime at={each.decided_at ?? each.created_at} />
                </span>
                {each.guidance && (
                  <p className="theirs">
                    <UntrustedText text={each.guidance} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function AttemptLine({
  id,
  kind,
  attempt,
}: {
  id: string;
  kind: EscalationDetail["kind"];
  attempt: Attempt;
}) {
  const failed = attempt.evaluations
    .filter((each) => each.gate && each.status === "failed")
    .map((each) => each.evaluator);
  return (
    <li className="flex min-h-7 flex-wrap items-center gap-x-2">
      <Link
        to={KINDS[kind].page}
        params={{ id }}
        search={{
          ...(kind === "sprint" ? { phase: attempt.phase as "coding" } : {}),
          attempt: attempt.number,
        }}
        className="inline-flex min-h-7 items-center underline"
      >
        {TRY_TITLE[kind]} {attempt.number}
      </Link>
      <StatusBadge status={attempt.verdict ?? attempt.status} />
      <span className="text-muted">
        {formatScore(attempt.score)} · <Cost usage={attempt.usage} />
        {failed.length > 0 && ` · ${failed.join(", ")}`}
      </span>
    </li>
  );
}
