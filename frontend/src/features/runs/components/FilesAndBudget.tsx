/** Which files the roles of a loop or an answer see, and what the run may consume. */
import type { ApiError } from "@/lib/api/errors";

import type { BudgetValues } from "../compact";
import { saidOf } from "../loop-and-answer-forms";
import type { SourceValues } from "../source";
import { BudgetFields } from "./BudgetFields";
import { SourceFields } from "./SourceFields";

interface Props {
  values: SourceValues & BudgetValues;
  change: (part: Partial<SourceValues & BudgetValues>) => void;
  refused: ApiError | null;
}

export function FilesAndBudget({ values, change, refused }: Props) {
  return (
    <section className="card flex flex-col gap-4 p-4" aria-label="Files and budget">
      <SourceFields
        values={values}
        change={change}
        // What is within the source has a field, or its error shows at the source.
        errorOf={(field) => (field === "source" ? own(refused) : saidOf(refused, field))}
      />
      <div className="grid gap-3 md:grid-cols-2">
        <BudgetFields
          values={values}
          change={change}
          errorOf={(field) => saidOf(refused, `budget.${field}`)}
        />
      </div>
    </section>
  );
}

const own = (refused: ApiError | null) => refused?.messageFor("source") ?? "";
