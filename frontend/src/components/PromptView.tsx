/** The exact prompt of an agent, with what is new since the attempt before. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { formatCount } from "@/lib/format";
import { attemptQuery } from "@/lib/queries/runs";
import { plainText } from "@/lib/text/ansi";

import { CopyMenu } from "./CopyMenu";
import { ErrorState, LoadingState } from "./states";

interface Props {
  runId: string;
  phase: string;
  number: number;
}

const LOOKS = {
  same: { look: "border-transparent", mark: " ", word: "" },
  added: { look: "border-added bg-added-tint", mark: "+", word: "New: " },
  removed: { look: "border-removed bg-removed-tint", mark: "−", word: "Removed: " },
} as const;

export function PromptView({ runId, phase, number }: Props) {
  const attempt = useQuery({ ...attemptQuery(runId, phase, number), staleTime: Number.POSITIVE_INFINITY });
  const [onlyNew, setOnlyNew] = useState(false);
  if (attempt.isPending) return <LoadingState what="the prompt" />;
  if (!attempt.data)
    return <ErrorState error={attempt.error} what="load the prompt" onRetry={() => void attempt.refetch()} />;
  const { prompt, prompt_changes: changes } = attempt.data;
  const parts = changes ?? [{ kind: "same" as const, text: prompt }];
  const shown = onlyNew ? parts.filter((each) => each.kind !== "same") : parts;
  return (
    <section aria-label="Prompt" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-4 border-b border-line p-2">
        <span className="text-muted">
          Prompt for {phase} attempt {number}: {formatCount(prompt.length)} characters
        </span>
        {changes && (
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={onlyNew} onChange={(event) => setOnlyNew(event.target.checked)} />
            Only changes since attempt {number - 1}
          </label>
        )}
        <div className="ml-auto">
          <CopyMenu items={[{ label: "Prompt", text: () => prompt }]} />
        </div>
      </div>
      <div
        className="mono max-h-[60dvh] overflow-auto"
        role="region"
        aria-label="Text of the prompt"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        {shown.length === 0 && <p className="p-3 text-muted">Unchanged since the previous attempt.</p>}
        {shown.map((part, index) => {
          const { look, mark, word } = LOOKS[part.kind];
          return (
            <div key={index} className={`flex gap-2 border-l-4 px-2 ${look}`} data-part={part.kind}>
              <span aria-hidden className="w-2 shrink-0 select-none text-muted">
                {mark}
              </span>
              <span className={`theirs ${part.kind === "removed" ? "line-through" : ""}`}>
                <span className="sr-only">{word}</span>
                {part.text.replace(/\n$/, "").split("\n").map(plainText).join("\n")}
              </span>
            </div>
          );
        })}
      </div>
    </section>
  );
}
