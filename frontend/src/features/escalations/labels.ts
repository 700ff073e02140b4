/** The words of this page for what the API names. Pure. */
import type { Schemas } from "@/lib/api/client";
import { formatCount } from "@/lib/format";
import { REASONS } from "@/lib/reasons";
import { formatShare } from "@/lib/shares";

/** Why a person is asked, in a few words. */
export function reasonOf({
  kind,
  reason_kind: reason,
}: Pick<Schemas["EscalationView"], "kind" | "reason_kind">): string {
  return kind === "director_loop" && reason === "human_asked" ? "The director asks" : REASONS[reason];
}

/** What helps before a retry, where the reason itself does not say it. */
const HINTS: Partial<Record<Schemas["EscalationReason"], string>> = {
  agent_unavailable:
    "Fix the cause, then retry. The service reads its settings when it starts: restart it after a change.",
  evaluator_unavailable: "Fix the cause, then retry. The same output is evaluated again.",
  worker_lost: "Read the logs of the workers, then retry.",
};

export function hintOf({ reason_kind: reason }: Pick<Schemas["EscalationView"], "reason_kind">): string {
  return HINTS[reason] ?? "";
}

export const DECISIONS: Record<Schemas["EscalationDecision"], string> = {
  accept: "Accept",
  retry: "Retry with guidance",
  reject: "Reject",
};

/** What a reviewer should know of an evaluator before believing it. */
export function trackRecordText(record: Schemas["TrackRecord"]): string {
  const { verdicts, failed, errored, marked } = record;
  const trouble = errored.count > 0 ? `, errored in ${formatCount(errored.count)}` : "";
  const basis = `failed ${formatCount(failed.count)} of its last ${formatCount(verdicts)} evaluations${trouble}`;
  const wrong = [
    shareText(marked.wrong_fails, "fails", "wrong"),
    shareText(marked.wrong_passes, "passes", "wrong"),
  ].filter(Boolean);
  return wrong.length > 0 ? `${basis}; ${wrong.join("; ")}` : `${basis}; none marked right or wrong yet`;
}

/** A share with its n and interval; no data is nothing, never 0 %. */
function shareText(share: Schemas["Share"], what: string, how: string): string {
  if (share.of === 0 || share.value === null) return "";
  const interval =
    share.low === null || share.high === null
      ? ""
      : ` (95 %: ${formatShare(share.low)}–${formatShare(share.high)})`;
  return `${share.count} of ${share.of} marked ${what} ${how}${interval}`;
}
