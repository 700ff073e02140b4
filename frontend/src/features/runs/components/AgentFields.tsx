/** Who does the work. */
import { useQuery } from "@tanstack/react-query";

import { agentsQuery } from "@/lib/queries/service";

import type { FieldsProps } from "../fields-props";
import { differs } from "../start-form";
import { AgentStates } from "./AgentStates";
import { CandidateFields } from "./CandidateFields";
import { Field } from "./Field";
import { FormPart } from "./FormPart";

const REFUSABLE = [
  "agent",
  "agent.backend",
  "agent.model",
  "agent.temperature",
  "agent.candidates",
  "agent.script",
];

const FIELDS = ["backend", "model", "temperature", "systemPrompt", "candidates", "script"] as const;

export function AgentFields({ fields, change, errorOf }: FieldsProps) {
  const agents = useQuery(agentsQuery);
  const installed = agents.data?.items.filter((each) => each.kind === "installed") ?? [];
  const isNamed = fields.named.length > 0;
  return (
    <FormPart
      title="Agent"
      hasNews={isNamed || REFUSABLE.some((each) => errorOf(each) !== "")}
      isFilled={differs(fields, FIELDS)}
    >
      <div className="mt-3 grid gap-3 md:grid-cols-2">
        <Field label="Agent" error={errorOf("agent.backend")}>
          <select
            value={isNamed ? "auto" : fields.backend}
            disabled={isNamed}
            onChange={(event) => change({ backend: event.target.value })}
          >
            <option value="auto">{isNamed ? "Named below" : "Service default"}</option>
            <option value="pydantic-ai">A model</option>
            <option value="scripted">A script (no model)</option>
            {installed.map((each) => (
              <option key={each.name} value={each.name}>
                {each.ready ? each.name : `${each.name} (not ready)`}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label="Candidates"
          hint="Agents per attempt. The gates choose between them."
          error={isNamed ? "" : errorOf("agent.candidates")}
        >
          <input
            inputMode="numeric"
            disabled={isNamed}
            value={isNamed ? String(fields.named.length) : fields.candidates}
            onChange={(event) => change({ candidates: event.target.value })}
          />
        </Field>
        {fields.backend === "scripted" && !isNamed ? (
          <Field
            label="Script (TOML or JSON)"
            hint="title and phases, as in a script file"
            error={errorOf("agent.script") || errorOf("agent")}
          >
            <textarea
              rows={4}
              value={fields.script}
              onChange={(event) => change({ script: event.target.value })}
            />
          </Field>
        ) : (
          <ModelFields fields={fields} change={change} errorOf={errorOf} />
        )}
      </div>
      {fields.backend !== "scripted" && <CandidateFields fields={fields} change={change} errorOf={errorOf} />}
      <AgentStates />
    </FormPart>
  );
}

function ModelFields({ fields, change, errorOf }: FieldsProps) {
  const isNamed = fields.named.length > 0;
  return (
    <>
      <Field
        label="Model"
        hint="provider:model. By default the service's model."
        error={errorOf("agent.model") || errorOf("agent")}
      >
        <input
          disabled={isNamed}
          value={isNamed ? "" : fields.model}
          placeholder="anthropic:claude-sonnet-4-20250514"
          onChange={(event) => change({ model: event.target.value })}
        />
      </Field>
      <Field label="Temperature" hint="0 to 2" error={errorOf("agent.temperature")}>
        <input
          inputMode="decimal"
          value={fields.temperature}
          onChange={(event) => change({ temperature: event.target.value })}
        />
      </Field>
      <Field
        label="System prompt"
        hint="Replaces the agent's system prompt."
        error={errorOf("agent.system_prompt")}
      >
        <textarea
          rows={3}
          value={fields.systemPrompt}
          onChange={(event) => change({ systemPrompt: event.target.value })}
        />
      </Field>
    </>
  );
}
