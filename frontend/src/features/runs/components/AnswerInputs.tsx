/** What a question came with: its evidence, and the rules that its answer must keep. */
import { Disclosure } from "@/components/Disclosure";
import { UntrustedList } from "@/components/UntrustedList";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import type { AnswerDetail } from "@/lib/queries/answers";
import { visible } from "@/lib/text/visible";

const SHOWN_CHARS = 100;

export function AnswerInputs({ answer }: { answer: AnswerDetail }) {
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <section aria-labelledby="evidence" className="card flex min-w-0 flex-col gap-2 p-3">
        <h2 id="evidence" className="font-semibold">
          Evidence given: {answer.entries.length}
        </h2>
        {answer.entries.length === 0 && <p className="text-muted">No evidence was given.</p>}
        {answer.entries.map((each, index) => (
          <Disclosure key={index} summaryClass="theirs" summary={beginning(each)}>
            {() => <UntrustedBlock text={each} />}
          </Disclosure>
        ))}
      </section>
      <section aria-labelledby="rules" className="card flex min-w-0 flex-col gap-2 p-3">
        <h2 id="rules" className="font-semibold">
          Rules
        </h2>
        {answer.domains.length > 0 && <UntrustedList title="Domains" items={answer.domains} />}
        {answer.rules.length > 0 ? (
          <UntrustedList title="The answer must follow" items={answer.rules} />
        ) : (
          <p className="text-muted">None.</p>
        )}
      </section>
    </div>
  );
}

function beginning(entry: string): string {
  const line = entry.trim().split("\n")[0] ?? "";
  const shown = visible(line.slice(0, SHOWN_CHARS));
  return line.length > SHOWN_CHARS || entry.trim().includes("\n") ? `${shown} …` : shown;
}
