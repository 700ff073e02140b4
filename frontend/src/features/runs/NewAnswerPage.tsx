/** `/new?kind=answer`: asks a question that is answered from evidence, and judged before it is given. */
import { Button } from "@/components/Button";
import type { ApiError } from "@/lib/api/errors";
import { curl } from "@/lib/commands";
import { identity } from "@/lib/identity";
import { useKept } from "@/lib/kept";
import { startAnswer } from "@/lib/queries/answers";

import { Field } from "./components/Field";
import { FilesAndBudget } from "./components/FilesAndBudget";
import { RoleAgentFields } from "./components/RoleAgentFields";
import { StartForm } from "./components/StartForm";
import {
  answerCommand,
  type AnswerFields,
  answerRequest,
  EMPTY_ANSWER,
  saidOf,
} from "./loop-and-answer-forms";

export function NewAnswerPage() {
  const { value: fields, change, forget } = useKept<AnswerFields>("answer", EMPTY_ANSWER);
  return (
    <StartForm
      kind="answer"
      note="Without evidence, every claim counts as unsupported."
      copies={copies(fields)}
      isFilled={fields !== EMPTY_ANSWER}
      onClear={forget}
      body={JSON.stringify(answerRequest(fields))}
      start={(key) => startAnswer(answerRequest(fields), key)}
    >
      {(refused) => (
        <>
          <section className="card flex flex-col gap-4 p-4" aria-label="Query and evidence">
            <Field label="Query" error={saidOf(refused, "query")}>
              <textarea
                rows={3}
                required
                value={fields.query}
                onChange={(event) => change({ query: event.target.value })}
              />
            </Field>
            <Entries entries={fields.entries} onChange={(entries) => change({ entries })} refused={refused} />
            <Field
              label="Domains"
              hint="Names of the service's rule sets, separated by commas."
              error={saidOf(refused, "domains")}
            >
              <input value={fields.domains} onChange={(event) => change({ domains: event.target.value })} />
            </Field>
            <Field
              label="Rules"
              hint="Rules that the answer must follow, one per line."
              error={saidOf(refused, "rules")}
            >
              <textarea
                rows={2}
                value={fields.rules}
                onChange={(event) => change({ rules: event.target.value })}
              />
            </Field>
            <Field
              label="Retries"
              hint="Attempts after the first. Each receives the feedback on the one before."
              error={saidOf(refused, "max_retries")}
            >
              <select value={fields.retries} onChange={(event) => change({ retries: event.target.value })}>
                {["0", "1", "2"].map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
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
          <RoleAgentFields
            fields={fields}
            change={change}
            refused={refused}
            roles="synthesizer and evaluator"
          />
        </>
      )}
    </StartForm>
  );
}

interface EntriesProps {
  entries: readonly string[];
  onChange: (entries: readonly string[]) => void;
  refused: ApiError | null;
}

function Entries({ entries, onChange, refused }: EntriesProps) {
  const sent = entries.filter((each) => each.trim());
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="sr-only">Evidence</legend>
      {entries.map((entry, index) => (
        <Field
          key={index}
          label={`Evidence ${index + 1}`}
          hint={index === 0 ? "A text. Name its source at the beginning." : undefined}
          error={saidOf(refused, `entries.${sent.indexOf(entry)}`)}
        >
          <textarea
            rows={3}
            value={entry}
            onChange={(event) =>
              onChange(entries.map((each, at) => (at === index ? event.target.value : each)))
            }
          />
        </Field>
      ))}
      <div>
        <Button onClick={() => onChange([...entries, ""])}>Add evidence</Button>
      </div>
    </fieldset>
  );
}

function copies(fields: AnswerFields) {
  const asCurl = {
    label: "curl",
    text: () =>
      curl(location.origin, "POST", "/api/v1/answers", answerRequest(fields), identity.get().token !== ""),
  };
  const line = answerCommand(fields, location.origin);
  return line === null ? [asCurl] : [asCurl, { label: "Command", text: () => line }];
}
