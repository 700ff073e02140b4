/** `/backlog`: what waits and why, what is under way, and what is done. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { Allowed } from "@/components/Allowed";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { PageHeader } from "@/components/PageHeader";
import { RelativeTime } from "@/components/RelativeTime";
import { EmptyState, ErrorState, explain, LoadingState } from "@/components/states";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { KINDS } from "@/lib/kinds";
import { shortNames, shortProject } from "@/lib/projects";
import {
  type BacklogItem,
  type BacklogProject,
  type Board,
  type BoardColumn,
  boardQuery,
  changeProject,
  removeItem,
} from "@/lib/queries/backlog";
import { keys } from "@/lib/queries/keys";
import { visible } from "@/lib/text/visible";

import { isEmptyBoard, limitWords } from "./board";

export function BacklogPage({ project }: { project: string | undefined }) {
  const board = useQuery(boardQuery(project));
  return (
    <>
      <PageHeader
        title="Backlog"
        actions={
          project && (
            <Link to="/backlog" search={{}} className="underline">
              Show all projects
            </Link>
          )
        }
      />
      {board.isPending && <LoadingState what="the backlog" />}
      {board.error && !board.data && (
        <ErrorState error={board.error} what="load the backlog" onRetry={() => void board.refetch()} />
      )}
      {board.data && <Columns board={board.data} />}
    </>
  );
}

function Columns({ board }: { board: Board }) {
  if (isEmptyBoard(board)) {
    return (
      <EmptyState title="The backlog is empty">
        <p>
          To add work that starts when limits and dependencies allow, run{" "}
          <code>phaserunner backlog add "GOAL" --repo PATH</code>.
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      {board.projects.length > 0 && <Projects projects={board.projects} />}
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-5">
        <section aria-label="Waiting" className={COLUMN}>
          <ColumnTitle title="Waiting" total={board.waiting_total} />
          <ul className="flex flex-col gap-2">
            {board.waiting.map((each) => (
              <WaitingItem key={each.id} item={each} />
            ))}
          </ul>
          <More total={board.waiting_total} shown={board.waiting.length} />
        </section>
        <Column title="Running" column={board.running} />
        <Column title="Needs a person" column={board.asks_human} />
        <Column title="In review" column={board.in_review} />
        <Column title="Done" column={board.done} />
      </div>
    </>
  );
}

const COLUMN = "rounded-md bg-sunken px-2 pb-2";

function ColumnTitle({ title, total }: { title: string; total: number }) {
  return (
    <h2 className="py-2 font-semibold">
      {title} <span className="font-normal text-muted">{total}</span>
    </h2>
  );
}

function Column({ title, column }: { title: string; column: BoardColumn }) {
  return (
    <section aria-label={title} className={COLUMN}>
      <ColumnTitle title={title} total={column.total} />
      <ul className="flex flex-col gap-2">
        {column.items.map((run) => (
          <li key={run.id} className="card p-2">
            <Link
              to={KINDS[run.kind].page}
              params={{ id: run.id }}
              className="flex min-h-6 items-center font-medium hover:underline"
            >
              <UntrustedText text={run.name} />
            </Link>
            <p className="flex flex-wrap items-center gap-x-2 text-muted">
              {/* The column does not say how a run ended, or that it is paused. */}
              {(run.paused || run.finished_at) && <StatusBadge status={run.paused ? "paused" : run.status} />}
              <span>
                {shortProject(run.project)} · <RelativeTime at={run.updated_at} />
              </span>
            </p>
          </li>
        ))}
      </ul>
      <More total={column.total} shown={column.items.length} />
    </section>
  );
}

/** A column shows only its first ones. */
function More({ total, shown }: { total: number; shown: number }) {
  return total > shown ? <p className="py-2 text-muted">{total - shown} more</p> : null;
}

function WaitingItem({ item }: { item: BacklogItem }) {
  const [asks, setAsks] = useState(false);
  const remove = useBoardChange(() => removeItem(item.id));
  return (
    <li className="card p-2">
      <p className="font-medium">
        <UntrustedText text={item.name} />
      </p>
      {item.reason && (
        <p>
          <UntrustedText text={item.reason} />
        </p>
      )}
      <p className="text-muted">
        {shortProject(item.project)} · priority {item.priority}
      </p>
      {item.status === "waiting" && (
        <Allowed needs="operator" onClick={() => setAsks(true)} aria-label={`Remove ${item.name}`}>
          Remove
        </Allowed>
      )}
      {asks && (
        <ConfirmDialog
          title="Remove this item?"
          text={`“${visible(item.name)}” leaves the backlog. Items that depend on it show that it was removed.`}
          confirm="Remove the item"
          isBusy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => {
            setAsks(false);
            remove.reset();
          }}
        />
      )}
    </li>
  );
}

function Projects({ projects }: { projects: readonly BacklogProject[] }) {
  const names = shortNames(projects.map((each) => each.project));
  return (
    <section aria-label="Projects">
      <h2 className="sr-only">Projects</h2>
      <ul className="flex flex-col gap-1">
        {projects.map((each, index) => (
          <ProjectLine key={each.project} project={each} name={names[index] ?? each.project} />
        ))}
      </ul>
    </section>
  );
}

/** `name` is no other's: who pauses a project must not pause its namesake. */
function ProjectLine({ project, name }: { project: BacklogProject; name: string }) {
  const paused = project.paused_at !== null;
  const change = useBoardChange(() => changeProject({ project: project.project, paused: !paused }));
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Link
        to="/backlog"
        search={{ project: project.project }}
        className="flex min-h-6 items-center font-medium underline"
      >
        {name}
      </Link>
      <span className="text-muted">{limitWords(project).join(" · ")}</span>
      {paused && <span>paused by {project.paused_by}</span>}
      <Allowed
        needs="operator"
        onClick={() => change.mutate()}
        disabled={change.isPending}
        aria-label={paused ? `Resume ${name}` : `Pause ${name}`}
      >
        {paused ? "Resume" : "Pause"}
      </Allowed>
      {change.error && <p role="alert">{explain(change.error, "change the project").text}</p>}
    </li>
  );
}

function useBoardChange(act: () => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => queries.invalidateQueries({ queryKey: keys.runs }),
  });
}
