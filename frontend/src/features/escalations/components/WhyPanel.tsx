/** Why a person is asked: the reason, what failed and how far that can be trusted, what was tried, what it cost. */
import { CodeSpans } from "@/components/CodeSpans";
import { Cost } from "@/components/Cost";
import { RelativeTime } from "@/components/RelativeTime";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import { plural } from "@/lib/format";
import { KINDS } from "@/lib/kinds";
import type { EscalationDetail } from "@/lib/queries/escalations";
import { plainText } from "@/lib/text/ansi";

import { placeOf } from "../consequences";
import { hintOf, reasonOf } from "../labels";

import { EscalationHistory } from "./EscalationHistory";
import { QuestionCard } from "./QuestionCard";
import { ReviewedVerdict } from "./ReviewedVerdict";

export function WhyPanel({ escalation }: { escalation: EscalationDetail }) {
  const attempt = escalation.attempts.find((each) => each.id === escalation.attempt_id);
  const failing = new Set(escalation.failing.map((each) => each.id));
  const others = (attempt?.evaluations ?? []).filter((each) => !failing.has(each.id));
  const changed = attempt?.changed_files ?? [];
  const recordOf = (name: string) => escalation.track_records.find((each) => each.evaluator === name);
  return (
    <section aria-label="Why it escalated" className="flex min-w-0 flex-col gap-3">
      <Reason escalation={escalation} />
      <Goal escalation={escalation} />
      {escalation.questions.map((each) => (
        <QuestionCard key={each.key} question={each} />
      ))}
      {failuresInOrder(escalation).map((each) => (
        <ReviewedVerdict
          key={each.id}
          evaluation={each}
          record={recordOf(each.evaluator)}
          changed={changed}
          open
        />
      ))}
      {attempt?.last_error && !attempt.verdict && !hasSaidWhy(escalation, attempt.last_error) && (
        <UntrustedBlock text={attempt.last_error} className="card p-3" />
      )}
      {others.length > 0 && (
        <details>
          <summary className="min-h-8 cursor-pointer py-1 text-muted">
            {plural(others.length, "other verdict")}
          </summary>
          <div className="flex flex-col gap-2">
            {others.map((each) => (
              <ReviewedVerdict
                key={each.id}
                evaluation={each}
                record={recordOf(each.evaluator)}
                changed={changed}
                open={false}
              />
            ))}
          </div>
        </details>
      )}
      <EscalationHistory escalation={escalation} />
    </section>
  );
}

function Reason({ escalation }: { escalation: EscalationDetail }) {
  const hint = escalation.status === "open" ? hintOf(escalation) : "";
  return (
    <div className="flex flex-col gap-1">
      <h2 className="font-semibold">{reasonOf(escalation)}</h2>
      {!isSaidBelow(escalation) && (
        <p className="theirs">
          <CodeSpans text={plainText(escalation.reason)} />
        </p>
      )}
      {hint && <p className="theirs">{hint}</p>}
      <p className="text-muted">
        <span className="inline-block first-letter:uppercase">
          {placeOf(escalation) || KINDS[escalation.kind].word}
        </span>{" "}
        · escalated <RelativeTime at={escalation.created_at} /> · cost so far{" "}
        <Cost usage={escalation.sprint.usage} />
      </p>
    </div>
  );
}

/** Whether the questions say the reason, with more beside it. */
function isSaidBelow({ reason_kind: reason, questions }: EscalationDetail): boolean {
  return reason === "question" && questions.length > 0;
}

/** Whether the page says the attempt's error in other places: each is said once. */
function hasSaidWhy({ reason, failing }: EscalationDetail, error: string): boolean {
  return error === reason || failing.length > 0;
}

/** Gates without a verdict come first where they are why a person is asked. */
function failuresInOrder({ failing, reason_kind: reason }: EscalationDetail): EscalationDetail["failing"] {
  if (reason !== "evaluator_unavailable") return failing;
  const hasNoVerdict = ({ gate, status }: EscalationDetail["failing"][number]) =>
    gate && status === "errored";
  return [...failing.filter(hasNoVerdict), ...failing.filter((each) => !hasNoVerdict(each))];
}

const GOALS = { sprint: "Goal", director_loop: "Task", answer: "Query" } as const;

function Goal({ escalation }: { escalation: EscalationDetail }) {
  return (
    <details open={escalation.sprint.goal.length < 300}>
      <summary className="min-h-7 cursor-pointer font-semibold">{GOALS[escalation.kind]}</summary>
      <p className="theirs">
        <CodeSpans text={escalation.sprint.goal} />
      </p>
    </details>
  );
}
