/** Evaluators against attempts: who judged what how. A cell opens its evidence. */
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { formatScore } from "@/lib/format";
import { partOf } from "@/lib/gates";
import type { Attempt, Evaluation, RunDetail } from "@/lib/queries/runs";

import { StatusBadge } from "./StatusBadge";

interface Props {
  sprint: RunDetail;
  attempt: Attempt | undefined;
  evaluator: string | undefined;
}

export function EvalMatrix({ sprint, attempt, evaluator }: Props) {
  const judged = sprint.attempts.filter((each) => each.evaluations.length > 0);
  const names = [...new Set(judged.flatMap((each) => each.evaluations.map((one) => one.evaluator)))];
  const table = useRef<HTMLDivElement>(null);
  const shownId = attempt?.id;
  // The newest attempt is the last column, which small screens would cut off.
  useEffect(() => {
    const column = table.current?.querySelector<HTMLElement>(`[data-attempt="${shownId}"]`);
    if (column && table.current)
      table.current.scrollLeft = column.offsetLeft + column.offsetWidth - table.current.clientWidth;
  }, [shownId]);
  if (names.length === 0) return <p className="p-3 text-muted">No verdicts yet.</p>;
  return (
    <div
      ref={table}
      className="relative overflow-x-auto"
      role="region"
      aria-label="Table of verdicts"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
    >
      <table className="table-rows w-full border-collapse">
        <thead>
          <tr>
            <th scope="col" className="sticky left-0 z-1 bg-canvas">
              Evaluator
            </th>
            {judged.map((each) => (
              <th
                key={each.id}
                data-attempt={each.id}
                scope="col"
                className={each.id === attempt?.id ? "bg-sunken" : ""}
              >
                <span className="block capitalize">{each.phase}</span>
                Attempt {each.number}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row" className="sticky left-0 z-1 bg-canvas whitespace-nowrap font-medium">
                <Link to="/evaluators/$name" params={{ name }} className="hover:underline">
                  {name}
                </Link>
              </th>
              {judged.map((each) => {
                const found = each.evaluations.find((one) => one.evaluator === name);
                const isShown = each.id === attempt?.id && name === evaluator;
                return (
                  <td key={each.id} className={isShown ? "outline-2 -outline-offset-2 outline-accent" : ""}>
                    {found ? (
                      <Cell id={sprint.id} attempt={each} evaluation={found} isShown={isShown} />
                    ) : (
                      <span className="text-muted">–</span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps {
  id: string;
  attempt: Attempt;
  evaluation: Evaluation;
  isShown: boolean;
}

function Cell({ id, attempt, evaluation, isShown }: CellProps) {
  return (
    <Link
      to="/sprints/$id"
      params={{ id }}
      search={(before) => ({
        ...before,
        phase: attempt.phase as "coding",
        attempt: attempt.number,
        evaluator: evaluation.evaluator,
        candidate: undefined,
      })}
      resetScroll={false}
      aria-current={isShown}
      title={`Score ${formatScore(evaluation.score)}`}
      className="inline-flex min-h-7 items-center gap-2 hover:underline"
    >
      <StatusBadge status={evaluation.status} />
      {!evaluation.gate && <span className="text-xs text-muted">{partOf(evaluation)}</span>}
    </Link>
  );
}
