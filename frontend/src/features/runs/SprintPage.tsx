/** `/sprints/:id`: what a run does, how it was judged and why, live. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate, useNavigate } from "@tanstack/react-router";
import { useDeferredValue } from "react";

import { EvalMatrix } from "@/components/EvalMatrix";
import { EvidencePanel } from "@/components/EvidencePanel";
import { NowLine } from "@/components/NowLine";
import { PageHeader } from "@/components/PageHeader";
import { PhaseRail } from "@/components/PhaseRail";
import { ErrorState, LoadingState } from "@/components/states";
import { Spans } from "@/components/Spans";
import { StatusBadge, wordOf } from "@/components/StatusBadge";
import { Timeline } from "@/components/Timeline";
import { chosenAttempt } from "@/lib/evidence";
import { KINDS } from "@/lib/kinds";
import { useRunEvents } from "@/lib/live-context";
import { useMilestones } from "@/lib/queries/events";
import { type RunDetail, runQuery } from "@/lib/queries/runs";
import { parseRunSearch, type RunSearch } from "@/lib/search";

import { Candidates } from "./components/Candidates";
import { MessageBox } from "./components/MessageBox";
import { hasResult, ResultCard } from "./components/ResultCard";
import { RetryPrompt } from "./components/RetryPrompt";
import { RunActions } from "./components/RunActions";
import { RunFacts } from "./components/RunFacts";
import { RunTabs } from "./components/RunTabs";
import { attemptAtWork, candidatesAtWork, Unfinished } from "./components/Unfinished";

export function SprintPage({ id }: { id: string }) {
  const sprint = useQuery(runQuery(id));
  if (!sprint.data) {
    return (
      <>
        <PageHeader title="Sprint" />
        {sprint.error ? (
          <ErrorState error={sprint.error} what="load the run" onRetry={() => void sprint.refetch()} />
        ) : (
          <LoadingState what="the run" />
        )}
      </>
    );
  }
  // Links that know no kind lead here.
  if (sprint.data.kind !== "sprint")
    return <Navigate to={KINDS[sprint.data.kind].page} params={{ id }} search replace />;
  return <Loaded sprint={sprint.data} />;
}

const root = getRouteApi("__root__");

function Loaded({ sprint }: { sprint: RunDetail }) {
  const events = useRunEvents(sprint.id, sprint.last_sequence);
  const milestones = useMilestones(sprint.id, events);
  const search = parseRunSearch(root.useSearch());
  const navigate = useNavigate();
  const attempt = chosenAttempt(sprint, search.phase, search.attempt);
  // What is judged is shown until the next verdict; what the agent does meanwhile has a separate place.
  const atWork = attemptAtWork(sprint, search.attempt === undefined ? undefined : attempt);
  // The log is made after the first picture, in pieces: what is above it is read first.
  const hasTabs = useDeferredValue(true, false);
  const show = (part: Partial<RunSearch>) =>
    void navigate({
      to: ".",
      search: (before) => ({ ...before, ...part }),
      replace: "find" in part,
      resetScroll: false,
      hash: true,
    });
  return (
    <>
      <PageHeader
        title={sprint.name}
        state={wordOf(sprint.paused ? "paused" : sprint.status)}
        beside={<StatusBadge status={sprint.paused ? "paused" : sprint.status} />}
        actions={<RunActions run={sprint} attempts={sprint.attempts} attempt={attempt} />}
      />
      <div className="card overflow-hidden">
        <NowLine run={sprint} events={events.events} />
        <RunFacts run={sprint} />
      </div>
      <div className="my-4 flex flex-col gap-4">
        {hasResult(sprint) && <ResultCard run={sprint} />}
        <PhaseRail phases={sprint.phases} isPaused={Boolean(sprint.paused)} />
        <Timeline course={sprint} />
        {atWork && (
          <Unfinished
            key={atWork.id}
            runId={sprint.id}
            attempt={atWork}
            candidates={candidatesAtWork(milestones, atWork)}
          />
        )}
        {attempt && (
          <Spans
            runId={sprint.id}
            tail={events}
            phase={attempt.phase}
            attempt={attempt.number}
            isOver={attempt.completed_at !== null}
          />
        )}
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <section className="card min-w-0" aria-labelledby="verdicts">
          <h2 id="verdicts" className="border-b border-line px-3 py-2 font-semibold">
            Verdicts
          </h2>
          <EvalMatrix sprint={sprint} attempt={attempt} evaluator={search.evaluator} />
        </section>
        <div className="flex min-w-0 flex-col gap-3">
          {attempt ? (
            <>
              <Candidates
                runId={sprint.id}
                attempt={attempt}
                events={milestones}
                shown={search.candidate}
                onShow={(candidate) => show({ candidate })}
              >
                {(shown) => (
                  <EvidencePanel
                    key={`${shown.head_commit} ${search.evaluator ?? ""}`}
                    attempt={shown}
                    evaluator={search.evaluator}
                    isPaused={Boolean(sprint.paused)}
                  />
                )}
              </Candidates>
              <RetryPrompt events={milestones} attempt={attempt} />
            </>
          ) : (
            <p className="card p-3 text-muted">
              No attempts yet. Evidence appears here after the first evaluation.
            </p>
          )}
        </div>
      </div>
      <div className="mt-4">
        <MessageBox run={sprint} />
      </div>
      {hasTabs ? (
        <RunTabs
          sprint={sprint}
          events={events}
          milestones={milestones}
          attempt={attempt}
          search={search}
          onSearch={show}
        />
      ) : (
        <div aria-hidden className="mt-6 h-[80dvh]" />
      )}
    </>
  );
}
