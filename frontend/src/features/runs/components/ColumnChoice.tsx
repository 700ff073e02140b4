/** Which columns the table of runs has; the address keeps the choice. */
import { type Column, COLUMNS, columnsOf, withColumn } from "../columns";

interface Props {
  columns: string | undefined;
  onChange: (columns: string | undefined) => void;
}

export function ColumnChoice({ columns, onChange }: Props) {
  const shown = columnsOf(columns);
  return (
    <details className="relative max-sm:hidden xl:order-last">
      <summary className="min-h-8 cursor-pointer rounded-md border border-line px-2 py-1 hover:bg-sunken">
        Columns
      </summary>
      <fieldset className="card absolute right-0 z-10 mt-1 flex flex-col gap-1 p-2 shadow-lg">
        <legend className="sr-only">Columns</legend>
        {(Object.keys(COLUMNS) as Column[]).map((each) => (
          <label key={each} className="flex min-h-7 items-center gap-2 whitespace-nowrap">
            <input
              type="checkbox"
              checked={shown.has(each)}
              onChange={(event) => onChange(withColumn(shown, each, event.target.checked))}
            />
            {COLUMNS[each]}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
