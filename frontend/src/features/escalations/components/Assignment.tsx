/** Who looks after an escalation, and the button to take it or to give it back. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { Allowed } from "@/components/Allowed";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { assignEscalation, type Escalation, releaseEscalation } from "@/lib/queries/escalations";
import { keys } from "@/lib/queries/keys";
import { useMyName } from "@/lib/queries/me";

type Wish = "take" | "take over" | "give back";

export function Assignment({ escalation }: { escalation: Escalation }) {
  const me = useMyName();
  const client = useQueryClient();
  const hand = useMutation({
    mutationFn: (wish: Wish) =>
      wish === "give back"
        ? releaseEscalation(escalation.id)
        : assignEscalation(escalation.id, wish === "take over"),
    onSettled: () => client.invalidateQueries({ queryKey: keys.escalations }),
  });
  const holder = escalation.assigned_to;
  if (escalation.status !== "open") return null;
  const wish: Wish = !holder ? "take" : holder === me ? "give back" : "take over";
  return (
    <span className="inline-flex flex-wrap items-center gap-2" data-assignment>
      {holder && (
        <span className="text-muted">
          {holder === me ? "yours" : <UntrustedText text={`with ${holder}`} />}
        </span>
      )}
      <Allowed
        needs="reviewer"
        className="pressable"
        disabled={hand.isPending}
        aria-label={`${LABELS[wish]}: ${escalation.run_name}`}
        onClick={() => hand.mutate(wish)}
      >
        {LABELS[wish]}
      </Allowed>
      {hand.error && (
        <span role="alert" className="theirs text-failed">
          <UntrustedText text={explain(hand.error, "take the escalation").text} />
        </span>
      )}
    </span>
  );
}

const LABELS: Record<Wish, string> = { take: "Take", "take over": "Take over", "give back": "Give back" };
