/** `/new`: starts a sprint; the same can be copied as a curl call and as a command line. */
import { curl } from "@/lib/commands";
import { identity } from "@/lib/identity";
import { useKept } from "@/lib/kept";
import { startSprint } from "@/lib/queries/runs";

import { AgentsNotice } from "./components/AgentsNotice";
import { AgentFields } from "./components/AgentFields";
import { BasicFields } from "./components/BasicFields";
import { HeldOutFields } from "./components/HeldOutFields";
import { PolicyFields } from "./components/PolicyFields";
import { StartForm } from "./components/StartForm";
import { inOwnWords } from "./refusals";
import { commandOf, EMPTY_FIELDS, requestOf, type StartFields } from "./start-form";

export function NewSprintPage() {
  const { value: fields, change, forget } = useKept<StartFields>("sprint", EMPTY_FIELDS);
  return (
    <StartForm
      kind="sprint"
      note="The sprint reads your repository and never writes to it."
      copies={copies(fields)}
      isFilled={fields !== EMPTY_FIELDS}
      onClear={forget}
      body={JSON.stringify(requestOf(fields))}
      start={(key) => startSprint(requestOf(fields), key)}
    >
      {(refused) => {
        const errorOf = (field: string) => inOwnWords(field, refused?.messageFor(field) ?? "");
        return (
          <>
            {fields.named.length === 0 && (
              <AgentsNotice chosen={fields.backend} onChoose={(backend) => change({ backend })} />
            )}
            <BasicFields fields={fields} change={change} errorOf={errorOf} />
            <AgentFields fields={fields} change={change} errorOf={errorOf} />
            <PolicyFields fields={fields} change={change} errorOf={errorOf} />
            <HeldOutFields fields={fields} change={change} errorOf={errorOf} />
          </>
        );
      }}
    </StartForm>
  );
}

function copies(fields: StartFields) {
  const asCurl = {
    label: "curl",
    text: () =>
      curl(location.origin, "POST", "/api/v1/sprints", requestOf(fields), identity.get().token !== ""),
  };
  const line = commandOf(fields, location.origin);
  return line === null ? [asCurl] : [asCurl, { label: "Command", text: () => line }];
}
