/** What is to be done, on which files, in which phases. */
import type { Phase } from "@/lib/queries/runs";

import { CodeSpans, hasCode } from "@/components/CodeSpans";

import { PHASES } from "../start-form";
import type { FieldsProps } from "../fields-props";
import { Field } from "./Field";
import { SourceFields } from "./SourceFields";

export function BasicFields({ fields, change, errorOf }: FieldsProps) {
  function togglePhase(phase: Phase): void {
    const has = fields.phases.includes(phase);
    change({ phases: has ? fields.phases.filter((each) => each !== phase) : [...fields.phases, phase] });
  }

  return (
    <section className="card flex flex-col gap-4 p-4" aria-label="Task">
      <Field
        label="Goal"
        hint="What to achieve, in your words. Say how to tell that it is done."
        error={errorOf("goal")}
      >
        <textarea
          rows={4}
          required
          value={fields.goal}
          onChange={(event) => change({ goal: event.target.value })}
        />
      </Field>
      {hasCode(fields.goal) && (
        <section aria-label="Goal as shown" className="rounded-md border border-line bg-sunken px-3 py-2">
          <p className="theirs">
            <CodeSpans text={fields.goal} />
          </p>
        </section>
      )}
      <Field label="Name" hint="Shown in lists. By default made from the goal." error={errorOf("name")}>
        <input value={fields.name} onChange={(event) => change({ name: event.target.value })} />
      </Field>
      <SourceFields values={fields} change={change} errorOf={errorOf} />
      <fieldset>
        <legend className="font-medium">Phases</legend>
        <div className="flex flex-wrap gap-4">
          {PHASES.map((phase) => (
            <label key={phase} className="flex min-h-8 items-center gap-2 capitalize">
              <input
                type="checkbox"
                checked={fields.phases.includes(phase)}
                onChange={() => togglePhase(phase)}
              />
              {phase}
            </label>
          ))}
        </div>
        {errorOf("phases") && (
          <p role="alert" className="text-failed" data-field-error>
            {errorOf("phases")}
          </p>
        )}
      </fieldset>
    </section>
  );
}
