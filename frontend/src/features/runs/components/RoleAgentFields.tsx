/** Who plays the roles of a loop or an answer: a model, or a script. */
import type { ApiError } from "@/lib/api/errors";

import { type RoleAgentValues, saidOf } from "../loop-and-answer-forms";
import { Field } from "./Field";
import { FormPart } from "./FormPart";

interface Props {
  fields: RoleAgentValues;
  change: (part: Partial<RoleAgentValues>) => void;
  refused: ApiError | null;
  /** Names of the roles, such as `director and evaluator`. */
  roles: string;
}

export function RoleAgentFields({ fields, change, refused, roles }: Props) {
  const said = saidOf(refused, "agent");
  return (
    <FormPart title="Agent" hasNews={said !== ""} isFilled={fields.model + fields.script !== ""}>
      <div className="mt-3 grid gap-3 md:grid-cols-2">
        <Field
          label="Model"
          hint="provider:model. By default the service's model."
          error={fields.script.trim() ? "" : said}
        >
          <input
            value={fields.model}
            placeholder="anthropic:claude-sonnet-4-20250514"
            onChange={(event) => change({ model: event.target.value })}
          />
        </Field>
        <Field
          label="Script (TOML or JSON)"
          hint={`Plays ${roles} instead of a model.`}
          error={fields.script.trim() ? said : ""}
        >
          <textarea
            rows={3}
            value={fields.script}
            onChange={(event) => change({ script: event.target.value })}
          />
        </Field>
      </div>
    </FormPart>
  );
}
