/** `/new?kind=director_loop`: starts a loop from its definition in XML or JSON. */
import { curl } from "@/lib/commands";
import { identity } from "@/lib/identity";
import { useKept } from "@/lib/kept";
import { startLoop } from "@/lib/queries/loops";
import { visible } from "@/lib/text/visible";

import { Field } from "./components/Field";
import { FilesAndBudget } from "./components/FilesAndBudget";
import { RoleAgentFields } from "./components/RoleAgentFields";
import { StartForm } from "./components/StartForm";
import { EMPTY_LOOP, inputNames, type LoopFields, loopRequest, saidOf } from "./loop-and-answer-forms";

const EXAMPLE = `<task type="director_evaluator_loop">
  <description>Write a limerick about {{topic}}</description>
  <inputs><input name="topic"/></inputs>
  …`;

export function NewLoopPage() {
  const { value: fields, change, forget } = useKept<LoopFields>("loop", EMPTY_LOOP);
  const copies = [
    {
      label: "curl",
      text: () =>
        curl(location.origin, "POST", "/api/v1/loops", loopRequest(fields), identity.get().token !== ""),
    },
  ];
  const declared = inputNames(fields.definition);
  return (
    <StartForm
      kind="director_loop"
      note="The loop reads its files and never writes to their source."
      copies={copies}
      isFilled={fields !== EMPTY_LOOP}
      onClear={forget}
      body={JSON.stringify(loopRequest(fields))}
      start={(key) => startLoop(loopRequest(fields), key)}
    >
      {(refused) => (
        <>
          <section className="card flex flex-col gap-4 p-4" aria-label="Task">
            <Field
              label="Definition"
              hint="XML or JSON. The inputs that it declares appear below."
              error={saidOf(refused, "definition")}
            >
              <textarea
                rows={12}
                required
                spellCheck={false}
                placeholder={EXAMPLE}
                value={fields.definition}
                onChange={(event) => change({ definition: event.target.value })}
              />
            </Field>
            {declared.map((name) => (
              <Field key={name} label={`Input ${visible(name)}`} error={saidOf(refused, `inputs.${name}`)}>
                <textarea
                  rows={2}
                  value={fields.inputs[name] ?? ""}
                  onChange={(event) => change({ inputs: { ...fields.inputs, [name]: event.target.value } })}
                />
              </Field>
            ))}
            <Field
              label="Query"
              hint="What the user asks. By default the description."
              error={saidOf(refused, "query")}
            >
              <textarea
                rows={2}
                value={fields.query}
                onChange={(event) => change({ query: event.target.value })}
              />
            </Field>
            <Field
              label="Name"
              hint="Shown in lists. By default made from the query."
              error={saidOf(refused, "name")}
            >
              <input value={fields.name} onChange={(event) => change({ name: event.target.value })} />
            </Field>
          </section>
          <FilesAndBudget values={fields} change={change} refused={refused} />
          <RoleAgentFields fields={fields} change={change} refused={refused} roles="director and evaluator" />
        </>
      )}
    </StartForm>
  );
}
