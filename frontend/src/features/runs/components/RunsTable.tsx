/** The table of runs; J and K move through it, Enter opens. */
import { Link } from "@tanstack/react-router";
import { useMemo, useRef } from "react";

import { Cost } from "@/components/Cost";
import { RelativeTime } from "@/components/RelativeTime";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { formatScore } from "@/lib/format";
import { KINDS } from "@/lib/kinds";
import type { Run } from "@/lib/queries/runs";
import { type Action, useActions } from "@/lib/shortcuts";
import { visible } from "@/lib/text/visible";

export function RunsTable({ runs }: { runs: readonly Run[] }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const actions = useMemo<readonly Action[]>(() => {
    const move = (by: number) => moveFocus(body.current, by);
    return [
      { id: "next-run", label: "Next run", keys: "j", group: "Runs", run: () => move(1) },
      { id: "previous-run", label: "Previous run", keys: "k", group: "Runs", run: () => move(-1) },
    ];
  }, []);
  useActions(actions);

  return (
    // Focusable, so that the keyboard can scroll it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="card overflow-x-auto" role="region" aria-label="Runs" tabIndex={0}>
      <table className="table-rows w-full border-collapse">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Run</th>
            <th scope="col">Kind</th>
            <th scope="col">Phase</th>
            <th scope="col" className="number">
              Attempt
            </th>
            <th scope="col" className="number">
              Score
            </th>
            <th scope="col">Started</th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col">Agent</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run }: { run: Run }) {
  return (
    <tr className="hover:bg-sunken">
      <td className="bg-canvas">
        <StatusBadge status={run.paused ? "paused" : run.status} />
      </td>
      <td className="w-full max-w-0 min-w-56">
        <Link
          to={KINDS[run.kind].page}
          params={{ id: run.id }}
          className="block truncate font-medium hover:underline"
          title={visible(run.goal.slice(0, 500))}
        >
          <UntrustedText text={run.name} />
        </Link>
      </td>
      <td>{KINDS[run.kind].word}</td>
      <td>{run.phase ?? "–"}</td>
      <td className="number whitespace-nowrap">
        {run.attempt === null ? "–" : `${run.attempt}/${run.max_attempts}`}
      </td>
      <td className="number">{formatScore(run.score)}</td>
      <td>
        <RelativeTime at={run.created_at} />
      </td>
      <td className="number whitespace-nowrap">
        <Cost usage={run.usage} />
      </td>
      <td className="max-w-56 truncate" title={visible(run.agent)}>
        <UntrustedText text={run.agent} />
      </td>
    </tr>
  );
}

function moveFocus(body: HTMLElement | null, by: number): void {
  const links = [...(body?.querySelectorAll("a") ?? [])];
  const here = links.findIndex((link) => link === document.activeElement);
  const next =
    here === -1 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, here + by));
  links[next]?.focus();
}
