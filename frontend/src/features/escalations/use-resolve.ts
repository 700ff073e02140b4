/** Sends a decision and waits for the service: nothing is shown as decided before it says so. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { ApiError } from "@/lib/api/errors";
import { useRepeatKey } from "@/lib/repeat-key";
import { type Resolution, resolveEscalation } from "@/lib/queries/escalations";
import { keys } from "@/lib/queries/keys";

export interface Conflict {
  readonly by: string;
  readonly at: string;
  readonly decision: string;
}

export function useResolve(id: string, onDone: () => void) {
  const client = useQueryClient();
  const key = useRepeatKey();
  return useMutation({
    mutationFn: (body: Resolution) => resolveEscalation(id, body, key.of(JSON.stringify(body))),
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: keys.escalations }),
  });
}

/** Who decided meanwhile; null for every other error. */
export function conflictOf(error: unknown): Conflict | null {
  if (!(error instanceof ApiError) || error.status !== 409) return null;
  const { decided_by: by, decided_at: at, decision } = error.problem;
  return typeof by === "string" && typeof at === "string" ? { by, at, decision: String(decision) } : null;
}
