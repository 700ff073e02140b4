/** What a question came to: the text that may be given, what it lacks, and why. */
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedList } from "@/components/UntrustedList";
import { UntrustedText } from "@/components/UntrustedText";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import type { AnswerDetail } from "@/lib/queries/answers";

import { answerEnding } from "../outcomes";

export function AnswerResult({ answer }: { answer: AnswerDetail }) {
  const ending = answerEnding(answer);
  const { result } = answer;
  return (
    <section aria-labelledby="result" className="card flex flex-col gap-2 p-3" data-result={ending.word}>
      <h2 id="result" className="flex flex-wrap items-center gap-3 font-semibold">
        Result <StatusBadge status={ending.status} word={ending.word} />
      </h2>
      <p className="text-muted">
        <UntrustedText text={ending.text} />
      </p>
      {result?.answer && <UntrustedBlock text={result.answer} />}
      {result && result.gaps.length > 0 && <UntrustedList title="Gaps" items={result.gaps} />}
      {result?.reason && (
        <p className="theirs">
          <strong className="font-medium">Reason:</strong> <UntrustedText text={result.reason} />
        </p>
      )}
    </section>
  );
}
