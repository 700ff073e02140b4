/** Rejects several escalations, each on its own. Those that changed meanwhile are left and named. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Allowed } from "@/components/Allowed";
import { Button } from "@/components/Button";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { plural } from "@/lib/format";
import { type Escalation, resolveEscalation } from "@/lib/queries/escalations";
import { keys } from "@/lib/queries/keys";
import { randomKey } from "@/lib/random-key";

interface Props {
  chosen: readonly Escalation[];
  /** Gets the ids of those that are rejected now. */
  onRejected: (ids: readonly string[]) => void;
  onClear: () => void;
}

interface Refusal {
  readonly id: string;
  readonly name: string;
  readonly why: string;
}

export function BulkReject({ chosen, onRejected, onClear }: Props) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const [done, setDone] = useState(0);
  const reject = useMutation({
    // Those that were chosen when it began: the list changes while they are decided.
    mutationFn: (asked: readonly Escalation[]) => rejectAll(asked, reason.trim(), setDone),
    onSettled: () => client.invalidateQueries({ queryKey: keys.escalations }),
    onSuccess: (left, asked) => {
      const ids = new Set(left.map((each) => each.id));
      onRejected(asked.map((each) => each.id).filter((id) => !ids.has(id)));
      if (ids.size === 0) setReason("");
    },
  });
  const refused = reject.data ?? [];
  return (
    <>
      {(chosen.length > 0 || reject.isPending) && (
        <form
          aria-label="Reject several"
          className="card mb-3 flex flex-wrap items-end gap-3 p-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (reason.trim() && !reject.isPending) reject.mutate(chosen);
          }}
        >
          <label className="flex min-w-0 flex-1 flex-col gap-1">
            Why they are obsolete (recorded with each)
            <input
              className="field"
              required
              maxLength={2000}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
          <Allowed
            needs="reviewer"
            weight="danger"
            type="submit"
            disabled={reject.isPending || !reason.trim()}
          >
            {reject.isPending
              ? `Rejecting ${done + 1} of ${reject.variables.length} …`
              : `Reject ${plural(chosen.length, "run")}`}
          </Allowed>
          <Button disabled={reject.isPending} onClick={onClear}>
            Choose none
          </Button>
        </form>
      )}
      {refused.length > 0 && (
        <div role="alert" className="card mb-3 p-3 text-failed">
          <p>{plural(refused.length, "run was", "runs were")} not rejected:</p>
          <ul className="list-disc pl-5">
            {refused.map(({ name, why }, index) => (
              <li key={index} className="theirs">
                <UntrustedText text={`${name}: ${why}`} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

const NOTHING_ELSE = { line_comments: [], verdict_marks: [], open_paths: [], known_failures: false };

/** One after the other: the service decides each, and one refusal stops none of the others. */
async function rejectAll(
  chosen: readonly Escalation[],
  guidance: string,
  onDone: (count: number) => void,
): Promise<readonly Refusal[]> {
  const refused: Refusal[] = [];
  for (const [index, { id, run_name: name, version }] of chosen.entries()) {
    onDone(index);
    try {
      const body = { ...NOTHING_ELSE, decision: "reject" as const, guidance, version };
      await resolveEscalation(id, body, randomKey());
    } catch (error) {
      refused.push({ id, name, why: explain(error, "reject the run").text });
    }
  }
  return refused;
}
