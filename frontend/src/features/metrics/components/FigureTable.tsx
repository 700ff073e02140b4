/** A table of figures with its heading. */
import { type ReactNode, useId } from "react";

interface Props {
  title: string;
  /** What the figures mean, where that is not plain. */
  note?: ReactNode;
  columns: readonly string[];
  children: ReactNode;
}

export function FigureTable({ title, note, columns, children }: Props) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <h2 id={id} className="font-semibold">
        {title}
      </h2>
      {note && <div className="text-muted">{note}</div>}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="card overflow-x-auto" role="region" aria-labelledby={id} tabIndex={0}>
        <table className="table-rows w-full border-collapse">
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th key={column} scope="col" className={index > 0 ? "number" : ""}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </div>
  );
}
