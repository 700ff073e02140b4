/** What a question came to: the text that may be given, what it lacks, and why. */
import { StatusBadge } from "@/components/StatusBadge";
import { Texts } from "@/components/Texts";
import { Theirs } from "@/components/Theirs";
import { Words } from "@/components/Words";
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
        <Theirs text={ending.text} />
      </p>
      {result?.answer && <Words text={result.answer} />}
      {result && result.gaps.length > 0 && <Texts title="What it lacks" items={result.gaps} />}
      {result?.reason && (
        <p className="theirs">
          <strong className="font-medium">Reason:</strong> <Theirs text={result.reason} />
        </p>
      )}
    </section>
  );
}
