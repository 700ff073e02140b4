/** What a loop came to: its last output, the last word of its evaluator, and why there was no more. */
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import { plural } from "@/lib/format";
import type { LoopDetail } from "@/lib/queries/loops";

import { loopEnding } from "../outcomes";

export function LoopResult({ loop }: { loop: LoopDetail }) {
  const ending = loopEnding(loop);
  const { result } = loop;
  return (
    <section
      aria-labelledby="result"
      className="card flex min-w-0 flex-col gap-2 p-3"
      data-result={ending.word}
    >
      <h2 id="result" className="flex flex-wrap items-center gap-3 font-semibold">
        Result <StatusBadge status={ending.status} word={ending.word} />
      </h2>
      <p className="text-muted">
        <UntrustedText text={ending.text} />
        {result && ` ${plural(result.iterations_completed, "iteration")} evaluated.`}
      </p>
      {result?.error && (
        <div className="flex flex-col gap-1">
          <p className="font-medium">
            {result.error.type === "TASK_FAILURE"
              ? result.error.reason.replaceAll("_", " ")
              : `${result.error.resource} used up`}
          </p>
          <UntrustedBlock text={result.error.message} />
        </div>
      )}
      {result && <UntrustedBlock text={result.final_output} empty="No output." />}
      {result?.final_evaluation?.feedback && (
        <>
          <p className="font-medium">Last evaluation</p>
          <UntrustedBlock text={result.final_evaluation.feedback} />
        </>
      )}
    </section>
  );
}
