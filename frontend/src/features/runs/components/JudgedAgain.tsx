/** How the result was judged on the present head of its target, and the button that judges it there. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ListChecks } from "lucide-react";

import { Allowed } from "@/components/Allowed";
import { RelativeTime } from "@/components/RelativeTime";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { recheck, recheckQuery, type ResultCheck } from "@/lib/queries/results";
import type { RunDetail } from "@/lib/queries/runs";

const SHORT = 12;

/** Only what the gates passed is judged again. */
export function JudgedAgain({ run }: { run: RunDetail }) {
  return run.status === "completed" ? <Judged id={run.id} /> : null;
}

function Judged({ id }: { id: string }) {
  const queries = useQueryClient();
  const { data } = useQuery(recheckQuery(id));
  const again = useMutation({
    mutationFn: () => recheck(id),
    onSuccess: (found) => queries.setQueryData(recheckQuery(id).queryKey, found),
  });
  return (
    <>
      <Allowed needs="operator" disabled={again.isPending} onClick={() => again.mutate()}>
        <ListChecks aria-hidden size={14} />
        Evaluate again on the target
      </Allowed>
      <span role="status" className="basis-full empty:hidden">
        {again.isPending && <span className="text-muted">Evaluating the merged files …</span>}
        {again.error && (
          <span className="theirs text-failed">{explain(again.error, "evaluate the result again").text}</span>
        )}
        {data && !again.isPending && !again.error && <Found check={data} />}
      </span>
    </>
  );
}

function Found({ check }: { check: ResultCheck }) {
  const commit = <code>{check.commit.slice(0, SHORT)}</code>;
  return (
    <span className="theirs">
      {check.verdict ? (
        <>
          Evaluated at commit {commit} of <UntrustedText text={check.branch} />: {check.verdict}.{" "}
          {check.verdict !== "passed" && <UntrustedText text={check.reason} />}
        </>
      ) : (
        <>
          Not evaluated at commit {commit}: {UNJUDGED[check.state]}.
        </>
      )}{" "}
      {check.after.length > 0 && <UntrustedText text={`Merged in before: ${check.after.join(", ")}. `} />}
      <span className="text-muted">
        <RelativeTime at={check.checked_at} />
      </span>
    </span>
  );
}

const UNJUDGED = {
  clean: "it merges cleanly",
  conflicts: "files conflict",
  contained: "it has every change",
} as const;
