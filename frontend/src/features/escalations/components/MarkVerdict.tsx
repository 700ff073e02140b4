/** Was this verdict right? What reviewers say here measures the evaluators. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";

import { Allowed } from "@/components/Allowed";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { markVerdict } from "@/lib/queries/diffs";
import { keys } from "@/lib/queries/keys";
import type { Evaluation } from "@/lib/queries/runs";

export function MarkVerdict({ evaluation }: { evaluation: Evaluation }) {
  const client = useQueryClient();
  const mark = useMutation({
    mutationFn: (wasRight: boolean) => markVerdict(evaluation.id, { was_right: wasRight, note: "" }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.escalations }),
  });
  // Where nothing was decided there is nothing to be right or wrong.
  if (evaluation.status !== "failed" && evaluation.status !== "passed") return null;
  const newest = evaluation.marks[0];
  return (
    <div
      className="flex flex-wrap items-center gap-x-2 gap-y-1"
      role="group"
      aria-label={`Was the verdict of ${evaluation.evaluator} right?`}
    >
      <span className="text-muted">
        Was it right to {evaluation.status === "failed" ? "fail" : "pass"} this?
      </span>
      <Allowed
        needs="reviewer"
        disabled={mark.isPending}
        aria-pressed={newest?.was_right === true}
        className="pressable"
        onClick={() => mark.mutate(true)}
      >
        <ThumbsUp aria-hidden size={14} />
        Right
      </Allowed>
      <Allowed
        needs="reviewer"
        disabled={mark.isPending}
        aria-pressed={newest?.was_right === false}
        className="pressable"
        onClick={() => mark.mutate(false)}
      >
        <ThumbsDown aria-hidden size={14} />
        Wrong
      </Allowed>
      <span role="status" className="text-muted">
        {mark.isPending && "Saving …"}
        {!mark.isPending && newest && (
          <>
            {newest.was_right ? "right" : "wrong"}, says <UntrustedText text={newest.marked_by} />
          </>
        )}
      </span>
      {mark.error && (
        <span role="alert" className="text-failed">
          {explain(mark.error, "save the mark").text}
        </span>
      )}
    </div>
  );
}
