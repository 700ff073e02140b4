/** What the pages of loops and answers have in common: head, facts, timeline, log, and how they load. */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { NowLine } from "@/components/NowLine";
import { PageHeader } from "@/components/PageHeader";
import { ErrorState, LoadingState } from "@/components/states";
import { StatusBadge, wordOf } from "@/components/StatusBadge";
import { Timeline } from "@/components/Timeline";
import { useRunEvents } from "@/lib/live-context";
import { useMilestones } from "@/lib/queries/events";
import type { Run } from "@/lib/queries/runs";
import { parseRunSearch, type RunSearch } from "@/lib/search";
import type { Course } from "@/lib/timeline";

import { MessageBox } from "./MessageBox";
import { RunActions } from "./RunActions";
import { RunFacts } from "./RunFacts";
import { RunLog } from "./RunLog";

const root = getRouteApi("__root__");

export function useRunSearch(): RunSearch {
  return parseRunSearch(root.useSearch());
}

interface Props {
  run: Run;
  course: Course;
  /** What the run's goal is, such as `Question`. */
  asks: string;
  /** What the run came to. */
  result: ReactNode;
  children: ReactNode;
}

export function RunPage({ run, course, asks, result, children }: Props) {
  const events = useRunEvents(run.id, run.last_sequence);
  const milestones = useMilestones(run.id, events);
  const search = useRunSearch();
  const navigate = useNavigate();
  const state = (
    <>
      <StatusBadge status={run.paused ? "paused" : run.status} />
      {run.scripted && (
        <span className="rounded-full border border-line px-2 text-muted">scripted, no model</span>
      )}
    </>
  );
  return (
    <>
      <PageHeader
        title={run.name}
        state={wordOf(run.paused ? "paused" : run.status)}
        beside={state}
        actions={<RunActions run={run} />}
      />
      <div className="card overflow-hidden">
        <NowLine run={run} events={events.events} />
        <RunFacts run={run} asks={asks} />
      </div>
      <div className="my-4 flex flex-col gap-4">
        {result}
        <Timeline course={course} />
        {children}
        <MessageBox run={run} />
        <div>
          <h2 className="mb-2 font-semibold">Log</h2>
          <RunLog
            run={run}
            events={events}
            milestones={milestones}
            find={search.find ?? ""}
            attempt={search.attempt}
            onFind={(find) =>
              void navigate({
                to: ".",
                search: (before) => ({ ...before, find: find || undefined }),
                replace: true,
                resetScroll: false,
                hash: true,
              })
            }
          />
        </div>
      </div>
    </>
  );
}

interface NotYetProps {
  title: string;
  query: { error: unknown; refetch: () => unknown };
}

export function NotYet({ title, query }: NotYetProps) {
  return (
    <>
      <PageHeader title={title} />
      {query.error ? (
        <ErrorState error={query.error} what="load the run" onRetry={() => void query.refetch()} />
      ) : (
        <LoadingState what="the run" />
      )}
    </>
  );
}
