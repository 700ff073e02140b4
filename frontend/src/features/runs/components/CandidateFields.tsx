/** Agents that work on each attempt side by side: an agent and a model for each. */
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";

import { Button } from "@/components/Button";
import { agentsQuery } from "@/lib/queries/service";
import { visible } from "@/lib/text/visible";

import type { FieldsProps } from "../fields-props";
import type { NamedCandidate } from "../start-form";
import { Field } from "./Field";

const MOST = 8;
const FIRST: NamedCandidate = { agent: "pydantic-ai", model: "" };

export function CandidateFields({ fields, change, errorOf }: FieldsProps) {
  const known = useQuery(agentsQuery).data?.items ?? [];
  const agents = known.filter((each) => each.kind === "installed");
  const { named } = fields;
  const set = (index: number, part: Partial<NamedCandidate>) =>
    change({ named: named.map((each, at) => (at === index ? { ...each, ...part } : each)) });
  return (
    <fieldset className="mt-3 flex min-w-0 flex-col gap-3" aria-label="Candidates by agent">
      {named.map((each, index) => {
        const of = (name: string) => errorOf(`agent.candidates.${index}.${name}`);
        // What a model lacks depends on the model: only the default one is known here.
        const hasOwnModel = each.agent === FIRST.agent && each.model !== "";
        const lacking = !hasOwnModel && known.find((agent) => agent.name === each.agent && !agent.ready);
        return (
          <div key={index} className="flex flex-wrap items-start gap-3">
            <div className="grid min-w-0 flex-1 gap-3 sm:grid-cols-2">
              <Field label={`Candidate ${index + 1}`} error={of("agent")}>
                <select value={each.agent} onChange={(event) => set(index, { agent: event.target.value })}>
                  <option value="pydantic-ai">A model</option>
                  {agents.map((agent) => (
                    <option key={agent.name} value={agent.name}>
                      {agent.ready ? agent.name : `${agent.name} (not ready)`}
                    </option>
                  ))}
                </select>
              </Field>
              <Field label={`Model of candidate ${index + 1}`} error={of("model")}>
                <input
                  value={each.model}
                  placeholder="The agent's default"
                  onChange={(event) => set(index, { model: event.target.value })}
                />
              </Field>
            </div>
            <Button
              weight="quiet"
              className="mt-6"
              aria-label={`Remove candidate ${index + 1}`}
              onClick={() => change({ named: named.filter((_, at) => at !== index) })}
            >
              <X aria-hidden size={16} />
            </Button>
            {lacking && (
              <p className="theirs w-full" data-lacking={index + 1}>
                <strong className="font-semibold">Candidate {index + 1} cannot work yet:</strong>{" "}
                {visible(lacking.missing ?? "")}
              </p>
            )}
          </div>
        );
      })}
      {named.length < MOST && (
        <div>
          <Button onClick={() => change({ named: [...named, named.at(-1) ?? FIRST] })}>
            <Plus aria-hidden size={16} />
            {named.length === 0 ? "Name each candidate" : "Add a candidate"}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
