/** What columns of attempts and of candidates are made of. */
import type { ReactNode } from "react";

import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import type { Change, GateColumn } from "@/lib/attempts";
import { plainText } from "@/lib/text/ansi";
import { visible } from "@/lib/text/visible";

const MOST = 8;

/** The mark says it to those who see no colour. */
const MARKS: Record<Change, { mark: string; colour: string }> = {
  fixed: { mark: "✓", colour: "text-passed" },
  "still failing": { mark: "=", colour: "text-failed" },
  regressed: { mark: "↓", colour: "text-failed" },
  failing: { mark: "×", colour: "text-failed" },
};

/** The columns, side by side; below each other on a phone. */
export function Columns({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div
      role="region"
      aria-label={label}
      className="relative overflow-x-auto"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
    >
      <div className="flex gap-3 max-sm:flex-col sm:w-max sm:min-w-full">{children}</div>
    </div>
  );
}

export const COLUMN = "card flex min-w-0 flex-1 flex-col sm:w-80 sm:min-w-80";
export const COLUMN_HEAD = "flex items-center gap-2 border-b border-line px-3 py-2 font-semibold";

export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-b border-line p-3 last:border-b-0">
      <h3 className="mb-1 font-medium">{title}</h3>
      {children}
    </section>
  );
}

export function Items({ items }: { items: readonly string[] }) {
  const shown = items.slice(0, MOST);
  return (
    <>
      <ul className="list-disc pl-5">
        {shown.map((each, index) => (
          <li key={index} className="theirs">
            {visible(plainText(each))}
          </li>
        ))}
      </ul>
      <Further items={items.slice(MOST)} />
    </>
  );
}

/** Nothing is hidden without a button that shows it. */
function Further({ items }: { items: readonly string[] }) {
  if (items.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-muted">{items.length} more</summary>
      <ul className="list-disc pl-5">
        {items.map((each, index) => (
          <li key={index} className="theirs">
            {visible(plainText(each))}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function Gate({ gate }: { gate: GateColumn }) {
  return (
    <div className="py-1" data-gate={gate.evaluator}>
      <p className="flex flex-wrap items-center gap-2">
        <StatusBadge status={gate.status} />
        <span>{gate.evaluator}</span>
        {gate.change && <ChangeWord change={gate.change} />}
      </p>
      <ul>
        {gate.findings.map(({ change, text }, index) => (
          <li key={index} className="flex gap-2" data-change={change}>
            <ChangeWord change={change} />
            <span className={`min-w-0 ${change === "fixed" ? "line-through" : ""}`}>
              <UntrustedText text={text} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function ChangeWord({ change }: { change: Change }) {
  const { mark, colour } = MARKS[change];
  return (
    <span className={`shrink-0 whitespace-nowrap ${colour}`}>
      <span aria-hidden>{mark}</span> {change}
    </span>
  );
}
