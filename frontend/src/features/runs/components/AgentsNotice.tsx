/** Says before the start that the chosen agent cannot work here, and what can be done instead. */
import { useQuery } from "@tanstack/react-query";

import { Button } from "@/components/Button";
import { CopyLine } from "@/components/CopyLine";
import { command } from "@/lib/commands";
import { agentsQuery } from "@/lib/queries/service";
import { visible } from "@/lib/text/visible";

interface Props {
  /** `auto`, or the name of an agent. */
  chosen: string;
  onChoose: (agent: string) => void;
}

export function AgentsNotice({ chosen, onChoose }: Props) {
  const agents = useQuery(agentsQuery).data?.items ?? [];
  const lacking = agents.find(
    (each) => !each.ready && (chosen === "auto" ? each.is_default : each.name === chosen),
  );
  if (!lacking) return null;
  const ready = agents.filter((each) => each.ready && each.kind !== "scripted");
  return (
    <section aria-label="Agent is not ready" className="card flex flex-col gap-2 p-3">
      <p className="theirs">
        <strong className="font-semibold">{visible(lacking.name)} cannot work yet:</strong>{" "}
        {visible(lacking.missing ?? "")}
      </p>
      {ready.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-muted">Ready:</span>
          {ready.map((each) => (
            <Button key={each.name} onClick={() => onChoose(each.name)}>
              Use {visible(each.name)}
            </Button>
          ))}
        </div>
      )}
      <CopyLine
        label="To see a run without a model, start the example"
        text={command(location.origin, ["run", "--example=teatime"])}
      />
    </section>
  );
}
