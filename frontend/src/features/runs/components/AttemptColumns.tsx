/** The attempts of a phase side by side: told → changed → said by each gate. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { type AttemptColumn, type Change, columnsOf, type GateColumn } from "@/lib/attempts";
import type { Attempt } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";
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

interface Props {
  attempts: readonly Attempt[];
  phase: string;
  events: readonly RunEvent[];
}

export function AttemptColumns({ attempts, phase, events }: Props) {
  const columns = columnsOf(attempts, phase, events);
  return (
    <div
      role="region"
      aria-label={`Attempts of ${phase} side by side`}
      className="relative overflow-x-auto"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
    >
      <div className="flex gap-3 max-sm:flex-col sm:w-max sm:min-w-full">
        {columns.map((each) => (
          <Column key={each.attempt.id} column={each} />
        ))}
      </div>
    </div>
  );
}

function Column({ column }: { column: AttemptColumn }) {
  const { attempt, issues, guidance, gates } = column;
  return (
    <article
      className="card flex min-w-0 flex-1 flex-col sm:w-80 sm:min-w-80"
      aria-label={`Attempt ${attempt.number}`}
      data-column={attempt.number}
    >
      <h2 className="flex items-center gap-2 border-b border-line px-3 py-2 font-semibold">
        <Link
          to="."
          search={(before) => ({ ...before, phase: attempt.phase as "coding", attempt: attempt.number })}
          resetScroll={false}
        >
          Attempt {attempt.number}
        </Link>
        <StatusBadge status={attempt.verdict ?? attempt.status} />
      </h2>
      <Part title="Told">
        {issues.length + guidance.length === 0 ? (
          <p className="text-muted">The goal</p>
        ) : (
          <>
            <Items items={guidance.map((each) => `Reviewer: ${each}`)} />
            <Items items={issues} />
          </>
        )}
      </Part>
      <Part title="Changed">
        {attempt.changed_files.length === 0 ? (
          <p className="text-muted">{attempt.produced_at ? "Nothing" : "Nothing yet"}</p>
        ) : (
          <Items items={attempt.changed_files} />
        )}
      </Part>
      <Part title="Said by each gate">
        {gates.length === 0 ? <p className="text-muted">Not evaluated yet</p> : gates.map(gateOf)}
      </Part>
    </article>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-b border-line p-3 last:border-b-0">
      <h3 className="mb-1 font-medium">{title}</h3>
      {children}
    </section>
  );
}

function Items({ items }: { items: readonly string[] }) {
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

function gateOf(gate: GateColumn) {
  return (
    <div key={gate.evaluator} className="py-1" data-gate={gate.evaluator}>
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
