/** What every group of fields of the sprint form gets. */
import type { StartFields } from "./start-form";

export interface FieldsProps {
  fields: StartFields;
  change: (part: Partial<StartFields>) => void;
  /** The service's message about a field, such as `policy.open_paths`; empty if the field is fine. */
  errorOf: (field: string) => string;
}
