/** Sends a decision and waits for the service: nothing is shown as decided before it says so. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { ApiError } from "@/lib/api/errors";
import { useRepeatKey } from "@/lib/repeat-key";
import {
  type Escalation,
  type EscalationDetail,
  type Resolution,
  resolveEscalation,
} from "@/lib/queries/escalations";
import { keys } from "@/lib/queries/keys";
import { useMyName } from "@/lib/queries/me";

import { type Draft, EMPTY, isRecorded } from "./resolution";

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
    onSuccess(outcome) {
      // It says all that the page shows of a decision: no one waits until it is asked for once more.
      client.setQueryData<EscalationDetail>(
        keys.escalation(id),
        (before) => before && { ...before, ...outcome },
      );
      onDone();
      void client.invalidateQueries({ queryKey: keys.escalations });
    },
    // Whether it arrived all the same is known before the page says that it failed.
    onError: () => client.invalidateQueries({ queryKey: keys.escalations }),
  });
}

/** What of a draft is not recorded. Without an answer the page learns from the escalation that all of it arrived. */
export function useUnsent(draft: Draft, escalation: Escalation, discard: () => void): Draft {
  const hasArrived = isRecorded(draft, escalation, useMyName());
  useEffect(() => {
    if (hasArrived) discard();
  }, [hasArrived, discard]);
  return hasArrived ? EMPTY : draft;
}

/** Who decided meanwhile; null for every other error. */
export function conflictOf(error: unknown): Conflict | null {
  if (!(error instanceof ApiError) || error.status !== 409) return null;
  const { decided_by: by, decided_at: at, decision } = error.problem;
  return typeof by === "string" && typeof at === "string" ? { by, at, decision: String(decision) } : null;
}
