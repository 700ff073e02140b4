/** The table of runs; J and K move through it, Enter opens. On a phone each run has two lines. */
import { Link } from "@tanstack/react-router";
import { Fragment, memo, type ReactNode, useMemo, useRef } from "react";

import { Cost } from "@/components/Cost";
import { RelativeTime } from "@/components/RelativeTime";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { formatDuration, formatScore } from "@/lib/format";
import { KINDS } from "@/lib/kinds";
import { shortProject } from "@/lib/projects";
import type { Run } from "@/lib/queries/runs";
import { type Action, useActions } from "@/lib/shortcuts";
import { visible } from "@/lib/text/visible";

import { type Column, COLUMNS, widthOf, WIDTHS } from "../columns";
import { PullLink } from "./ForgePlace";
import { useRunRows } from "./use-run-rows";

interface Props {
  runs: readonly Run[];
  shown: ReadonlySet<Column>;
}

const NUMBERS: ReadonlySet<Column> = new Set(["attempt", "score", "took", "cost"]);
const ORDER = Object.keys(COLUMNS) as Column[];

export function RunsTable({ runs, shown }: Props) {
  const table = useRef<HTMLTableElement>(null);
  const actions = useMemo<readonly Action[]>(() => {
    const move = (by: number) => moveFocus(table.current, by);
    return [
      { id: "next-run", label: "Next run", keys: "j", group: "Runs", run: () => move(1) },
      { id: "previous-run", label: "Previous run", keys: "k", group: "Runs", run: () => move(-1) },
    ];
  }, []);
  useActions(actions);
  const columns = useMemo(() => ORDER.filter((each) => shown.has(each)), [shown]);
  const { rows, rest, measure, onFocus, onBlur } = useRunRows(runs, table);

  return (
    // Focusable, so that the keyboard can scroll it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="card overflow-x-auto" role="region" aria-label="Runs" tabIndex={0}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- only looks where the focus is */}
      <table
        ref={table}
        className="table-rows w-full table-fixed border-collapse max-sm:min-w-0!"
        style={{ minWidth: `${leastWidth(columns)}rem` }}
        aria-rowcount={runs.length + 1}
        onFocus={onFocus}
        onBlur={onBlur}
      >
        <colgroup>
          <col style={{ width: `${STATUS_REM}rem` }} />
          <col />
          {columns.map((each) => (
            <col key={each} className="max-sm:hidden" style={{ width: widthOf(each) }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Status</th>
            <th scope="col">Run</th>
            {columns.map((each) => (
              <th key={each} scope="col" className={lookOf(each)}>
                {COLUMNS[each]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ run, index, gap }) => (
            <Fragment key={run.id}>
              <Gap height={gap} columns={columns.length + 2} />
              <RunRow run={run} index={index} columns={columns} measure={measure} />
            </Fragment>
          ))}
          <Gap height={rest} columns={columns.length + 2} />
        </tbody>
      </table>
    </div>
  );
}

const STATUS_REM = 11.4;
const LEAST_RUN_REM = 9;

function leastWidth(columns: readonly Column[]): number {
  return columns.reduce((sum, each) => sum + WIDTHS[each], STATUS_REM + LEAST_RUN_REM);
}

/** Instead of rows that are far from the screen. */
function Gap({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} className="p-0!" style={{ height }} />
    </tr>
  );
}

function lookOf(column: Column): string {
  return `max-sm:hidden ${NUMBERS.has(column) ? "number whitespace-nowrap" : ""}`;
}

interface RowProps {
  run: Run;
  index: number;
  columns: readonly Column[];
  /** Tells how high the row is. */
  measure: (row: HTMLTableRowElement | null) => void;
}

const RunRow = memo(function RunRow({ run, index, columns, measure }: RowProps) {
  return (
    // The header is the first row.
    <tr ref={measure} className="hover:bg-sunken" data-index={index} aria-rowindex={index + 2}>
      <td className="bg-canvas max-sm:align-top">
        <StatusBadge status={run.paused ? "paused" : run.status} />
      </td>
      <td>
        <span className="flex min-w-0 items-baseline gap-x-2">
          <Link
            to={KINDS[run.kind].page}
            params={{ id: run.id }}
            // What is cut off is the end, also of a name that is read from the right.
            dir="auto"
            className="block truncate text-left font-medium hover:underline"
            title={visible(`${run.name}\n\n${run.goal.slice(0, 500)}`)}
            data-run
          >
            {visible(run.name)}
          </Link>
          {run.forked_from && <ForkedFrom run={run.forked_from.run_id} />}
          {run.forge && <PullLink forge={run.forge} />}
        </span>
        <span className="block truncate text-xs text-muted sm:hidden" data-second-line>
          {KINDS[run.kind].word} · {triesOf(run)} · <RelativeTime at={run.created_at} /> ·{" "}
          <Cost usage={run.usage} />
        </span>
      </td>
      {columns.map((each) => (
        <td key={each} className={lookOf(each)}>
          {CELLS[each](run)}
        </td>
      ))}
    </tr>
  );
});

/** Leads to the run that a fork started from. */
function ForkedFrom({ run }: { run: string }) {
  return (
    <Link
      to="/sprints/$id"
      params={{ id: run }}
      className="truncate text-xs text-muted underline sm:shrink-0"
    >
      fork of <code>{run.slice(0, 8)}</code>
    </Link>
  );
}

const CELLS: Record<Column, (run: Run) => ReactNode> = {
  kind: (run) => KINDS[run.kind].word,
  project: (run) => (
    <span className="block truncate" title={visible(run.project)}>
      {run.project ? <UntrustedText text={shortProject(run.project)} /> : "–"}
    </span>
  ),
  phase: (run) => run.phase ?? "–",
  attempt: triesOf,
  score: (run) => formatScore(run.score),
  started: (run) => <RelativeTime at={run.created_at} />,
  took: tookOf,
  cost: (run) => <Cost usage={run.usage} />,
  agent: (run) => (
    <span className="block truncate" title={visible(run.agent)}>
      <UntrustedText text={run.agent} />
    </span>
  ),
};

/** The attempt of those that the phase allows; of a run that is over, the attempts of all its phases. */
function triesOf(run: Run): string {
  if (run.attempt !== null) return `${run.attempt}/${run.max_attempts}`;
  return run.attempts_used > 0 ? String(run.attempts_used) : "–";
}

/** How long a run took that is over. */
function tookOf(run: Run): string {
  if (run.finished_at === null) return "–";
  return formatDuration(Date.parse(run.finished_at) - Date.parse(run.started_at ?? run.created_at));
}

function moveFocus(table: HTMLElement | null, by: number): void {
  const links = [...(table?.querySelectorAll<HTMLElement>("a[data-run]") ?? [])];
  const here = links.findIndex((link) => link === document.activeElement);
  const next =
    here === -1 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, here + by));
  links[next]?.focus();
}
