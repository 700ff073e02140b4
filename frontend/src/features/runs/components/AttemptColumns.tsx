/** The attempts of a phase side by side: told → changed → said by each gate. */
import { Link } from "@tanstack/react-router";

import { StatusBadge } from "@/components/StatusBadge";
import { type AttemptColumn, columnsOf } from "@/lib/attempts";
import type { Attempt } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";

import { COLUMN, COLUMN_HEAD, Columns, Gate, Items, Part } from "./Columns";

interface Props {
  attempts: readonly Attempt[];
  phase: string;
  events: readonly RunEvent[];
}

export function AttemptColumns({ attempts, phase, events }: Props) {
  const columns = columnsOf(attempts, phase, events);
  return (
    <Columns label={`Attempts of ${phase} side by side`}>
      {columns.map((each) => (
        <Column key={each.attempt.id} column={each} />
      ))}
    </Columns>
  );
}

function Column({ column }: { column: AttemptColumn }) {
  const { attempt, issues, guidance, gates } = column;
  return (
    <article className={COLUMN} aria-label={`Attempt ${attempt.number}`} data-column={attempt.number}>
      <h2 className={COLUMN_HEAD}>
        <Link
          to="."
          search={(before) => ({ ...before, phase: attempt.phase as "coding", attempt: attempt.number })}
          resetScroll={false}
        >
          Attempt {attempt.number}
        </Link>
        <StatusBadge status={attempt.verdict ?? attempt.status} />
      </h2>
      <Part title="New in its prompt">
        {issues.length + guidance.length === 0 ? (
          <p className="text-muted">The goal</p>
        ) : (
          <>
            <Items items={guidance.map((each) => `Reviewer: ${each}`)} />
            <Items items={issues} />
          </>
        )}
      </Part>
      <Part title="Changed files">
        {attempt.changed_files.length === 0 ? (
          <p className="text-muted">{attempt.produced_at ? "Nothing" : "Nothing yet"}</p>
        ) : (
          <Items items={attempt.changed_files} />
        )}
      </Part>
      <Part title="Gates">
        {gates.length === 0 && <p className="text-muted">Not evaluated yet</p>}
        {gates.map((each) => (
          <Gate key={each.evaluator} gate={each} />
        ))}
      </Part>
    </article>
  );
}
