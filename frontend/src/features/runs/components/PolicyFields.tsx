/** Within which bounds, and how it is judged; what is left empty is as the service is set. */
import type { FieldsProps } from "../fields-props";
import { differs, type StartFields } from "../start-form";
import { BudgetFields } from "./BudgetFields";
import { Field } from "./Field";
import { FormPart } from "./FormPart";

const NAMES = [
  "attempts_per_phase",
  "pass_threshold",
  "blocking_threshold",
  "retry_context",
  "budget.tokens",
  "budget.cost_usd",
  "open_paths",
  "open_paths.0",
];

const FIELDS = [
  ...(["maxAttempts", "retryFrom", "retryContext", "maxTokens", "maxCost"] as const),
  ...(["passThreshold", "blockingThreshold", "openPaths", "deterministicOnly", "safeFixes"] as const),
];

export function PolicyFields({ fields, change, errorOf }: FieldsProps) {
  const of = (name: string) => errorOf(`policy.${name}`);
  const text = (name: keyof StartFields) => ({
    value: String(fields[name]),
    onChange: (event: { target: { value: string } }) => change({ [name]: event.target.value }),
  });
  return (
    <FormPart
      title="Limits and evaluation"
      hasNews={NAMES.some((each) => of(each) !== "")}
      isFilled={differs(fields, FIELDS)}
    >
      <div className="mt-3 grid gap-3 md:grid-cols-2">
        <Field
          label="Attempts per phase"
          hint="1 to 20. Then the run escalates."
          error={of("attempts_per_phase")}
        >
          <input inputMode="numeric" {...text("maxAttempts")} />
        </Field>
        <Field label="Retry starts from" error={of("retry_from")}>
          <select {...text("retryFrom")}>
            <option value="">Service default</option>
            <option value="previous">Previous attempt</option>
            <option value="base">Start of the phase</option>
          </select>
        </Field>
        <Field
          label="Conversation of a retry"
          hint="Fresh starts a new conversation and tells what failed. Continue goes on with the last one, if the agent can."
          error={of("retry_context")}
        >
          <select {...text("retryContext")}>
            <option value="">Service default</option>
            <option value="fresh">Fresh</option>
            <option value="continue">Continue</option>
          </select>
        </Field>
        <BudgetFields values={fields} change={change} errorOf={(name) => of(`budget.${name}`)} />
        <Field label="Pass threshold" hint="0 to 1" error={of("pass_threshold")}>
          <input inputMode="decimal" {...text("passThreshold")} />
        </Field>
        <Field label="Blocking threshold" hint="0 to 1" error={of("blocking_threshold")}>
          <input inputMode="decimal" {...text("blockingThreshold")} />
        </Field>
        <Field
          label="Protected files that may change"
          hint="One glob per line"
          error={of("open_paths") || of("open_paths.0")}
        >
          <textarea rows={2} {...text("openPaths")} />
        </Field>
        <div className="flex flex-col gap-1">
          <label className="flex min-h-8 items-center gap-2">
            <input
              type="checkbox"
              checked={fields.deterministicOnly}
              onChange={(event) => change({ deterministicOnly: event.target.checked })}
            />
            Evaluate with tools only, without models
          </label>
          <label className="flex min-h-8 items-center gap-2">
            <input
              type="checkbox"
              checked={fields.safeFixes}
              onChange={(event) => change({ safeFixes: event.target.checked })}
            />
            Apply ruff&apos;s safe fixes before evaluation
          </label>
        </div>
      </div>
    </FormPart>
  );
}
