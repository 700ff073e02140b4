/** Every agent of the service: ready, or what it lacks. */
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleSlash } from "lucide-react";

import { agentsQuery } from "@/lib/queries/service";
import { visible } from "@/lib/text/visible";

export function AgentStates() {
  const agents = useQuery(agentsQuery).data?.items ?? [];
  const shown = agents.filter((each) => each.kind !== "scripted");
  if (shown.length === 0) return null;
  return (
    <details className="mt-3">
      <summary className="min-h-7 cursor-pointer text-muted">
        Agents: {shown.filter((each) => each.ready).length} of {shown.length} ready
      </summary>
      <ul aria-label="Agents" className="mt-2 flex flex-col gap-1">
        {shown.map((each) => {
          const Icon = each.ready ? CircleCheck : CircleSlash;
          return (
            <li key={each.name} className="flex items-start gap-2" data-ready={each.ready}>
              <Icon
                aria-hidden
                size={16}
                className={`mt-0.5 shrink-0 ${each.ready ? "text-passed" : "text-muted"}`}
              />
              <span className="theirs min-w-0">
                <span className="font-medium">{visible(each.name)}</span>{" "}
                {each.ready ? `ready${each.version ? `, ${visible(each.version)}` : ""}` : "not ready: "}
                {!each.ready && <span className="text-muted">{visible(each.missing ?? "")}</span>}
              </span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
