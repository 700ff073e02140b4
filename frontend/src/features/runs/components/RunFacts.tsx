/** What a run is: its goal, who works on what, since when, at which cost. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { CodeSpans } from "@/components/CodeSpans";
import { Cost } from "@/components/Cost";
import { Disclosure } from "@/components/Disclosure";
import { Elapsed, RelativeTime } from "@/components/RelativeTime";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import type { Schemas } from "@/lib/api/client";
import { formatCost, plural } from "@/lib/format";
import { shortProject } from "@/lib/projects";
import type { Run, RunDetail } from "@/lib/queries/runs";
import { visible } from "@/lib/text/visible";

import { RunBaseline } from "./RunBaseline";
import { RunUsage } from "./RunUsage";

const SHORT_GOAL = 320;

interface Props {
  run: Run & {
    base_commit?: string | null;
    held_out?: RunDetail["held_out"];
    baseline?: RunDetail["baseline"];
    policy?: Schemas["PolicyView"];
    forks?: RunDetail["forks"];
  };
  /** What the goal is for this kind of run. */
  asks?: string;
}

export function RunFacts({ run, asks }: Props) {
  return (
    <>
      <div className="flex flex-col gap-2 px-3 py-2.5">
        <Goal text={visible(run.goal)} asks={asks} />
        {run.paused && (
          <p className="theirs">
            <strong className="font-medium">Paused</strong> by <UntrustedText text={run.paused.by} />{" "}
            <RelativeTime at={run.paused.at} />
            {run.paused.reason && (
              <>
                : <UntrustedText text={run.paused.reason} />
              </>
            )}
          </p>
        )}
        {/* Of a completed run the line above says it. */}
        {run.status_reason && run.status !== "completed" && (
          <p className="theirs">
            <strong className="font-medium">Why:</strong> <CodeSpans text={run.status_reason} />
          </p>
        )}
        <Judging run={run} />
      </div>
      <dl className="grid grid-cols-2 gap-x-8 gap-y-2 border-t border-line px-3 py-2 sm:flex sm:flex-wrap">
        <Fact name="Started">
          <RelativeTime at={run.created_at} /> by <UntrustedText text={run.created_by} />
        </Fact>
        <Fact name={run.finished_at ? "Took" : "Elapsed"}>
          <Elapsed from={run.created_at} to={run.finished_at} />
        </Fact>
        <Fact name="Cost">
          <Cost usage={run.usage} />
          {run.policy?.budget.cost_usd ? ` of ${formatCost(run.policy.budget.cost_usd)}` : ""}
        </Fact>
        <Fact name="Agent">
          <UntrustedText text={run.agent} />
        </Fact>
        {run.project && (
          <Fact name="Project">
            <span title={visible(run.project)}>
              <UntrustedText text={shortProject(run.project)} />
            </span>
          </Fact>
        )}
        {run.base_commit && (
          <Fact name="Base">
            <code>{run.base_commit.slice(0, 10)}</code>
          </Fact>
        )}
        <Fact name="Id">
          <code>{run.id.slice(0, 8)}</code>
        </Fact>
        <Relatives run={run} />
      </dl>
      {run.usage.requests > 0 && (
        <Disclosure
          className="border-t border-line px-3 py-1"
          summary="Cost by attempt and model, and budgets"
        >
          {() => <RunUsage id={run.id} />}
        </Disclosure>
      )}
    </>
  );
}

function Goal({ text, asks }: { text: string; asks: string | undefined }) {
  const word = asks && <strong className="font-medium">{asks}: </strong>;
  if (text.length <= SHORT_GOAL && !text.includes("\n")) {
    return (
      <p className="theirs max-w-6xl">
        {word}
        <CodeSpans text={text} />
      </p>
    );
  }
  return (
    <details className="max-w-6xl">
      <summary className="theirs cursor-pointer">
        {word}
        <CodeSpans text={beginning(text)} /> …
      </summary>
      <p className="theirs mt-2">
        <CodeSpans text={text} />
      </p>
    </details>
  );
}

/** What the tests did before the run, and which tests judge it in secret. */
function Judging({ run }: Pick<Props, "run">) {
  return (
    <>
      {run.baseline && <RunBaseline baseline={run.baseline} />}
      {run.held_out && (
        <p>
          <span className="text-muted">Held-out tests:</span>{" "}
          {run.held_out.files.length > 0 && `${plural(run.held_out.files.length, "file")}. `}
          <UntrustedText text={run.held_out.note} />
        </p>
      )}
    </>
  );
}

/** The run that it started from, and the runs that started from it. */
function Relatives({ run }: Pick<Props, "run">) {
  const { forked_from: origin, forks = [] } = run;
  return (
    <>
      {origin && (
        <Fact name="Fork of">
          <Link to="/sprints/$id" params={{ id: origin.run_id }} className="underline">
            <code>{origin.run_id.slice(0, 8)}</code>, {origin.phase} attempt {origin.attempt}
          </Link>
        </Fact>
      )}
      {forks.length > 0 && (
        <Fact name="Forks">
          <ul className="inline-flex flex-wrap gap-x-3">
            {forks.map((fork) => (
              <li key={fork.run_id} className="inline-flex min-w-0 items-center gap-1">
                <StatusBadge status={fork.status} compact />
                <Link
                  to="/sprints/$id"
                  params={{ id: fork.run_id }}
                  className="min-w-0 break-words underline"
                >
                  <UntrustedText text={fork.name} />
                </Link>
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </>
  );
}

/** The first line, cut between words. */
function beginning(goal: string): string {
  const line = goal.split("\n")[0] ?? "";
  return line.length <= SHORT_GOAL ? line : line.slice(0, SHORT_GOAL).replace(/\s+\S*$/, "");
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}
