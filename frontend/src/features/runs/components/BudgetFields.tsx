/** How much a run may consume. */
import type { BudgetValues } from "../compact";
import { Field } from "./Field";

interface Props {
  values: BudgetValues;
  change: (part: Partial<BudgetValues>) => void;
  /** The service's message about a field of the budget, such as `tokens`. */
  errorOf: (field: string) => string;
}

export function BudgetFields({ values, change, errorOf }: Props) {
  return (
    <>
      <Field label="Token limit" error={errorOf("tokens")}>
        <input
          inputMode="numeric"
          value={values.maxTokens}
          onChange={(event) => change({ maxTokens: event.target.value })}
        />
      </Field>
      <Field label="Cost limit (US dollars)" error={errorOf("cost_usd")}>
        <input
          inputMode="decimal"
          value={values.maxCost}
          onChange={(event) => change({ maxCost: event.target.value })}
        />
      </Field>
    </>
  );
}
