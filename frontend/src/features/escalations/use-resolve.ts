/** Sends a decision and waits for the service: nothing is shown as decided before it says so. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

import { ApiError } from "@/lib/api/errors";
import { randomKey } from "@/lib/random-key";
import { type Resolution, resolveEscalation } from "@/lib/queries/escalations";
import { keys } from "@/lib/queries/keys";

export interface Conflict {
  readonly by: string;
  readonly at: string;
  readonly decision: string;
}

export function useResolve(id: string, onDone: () => void) {
  const client = useQueryClient();
  const sent = useRef({ body: "", key: "" });
  return useMutation({
    mutationFn: (body: Resolution) => {
      // The same answer, sent again after no answer came, must not count twice.
      const text = JSON.stringify(body);
      if (sent.current.body !== text) sent.current = { body: text, key: randomKey() };
      return resolveEscalation(id, body, sent.current.key);
    },
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
