/** What a run is: its goal, who works on what, since when, at which cost. */
import type { ReactNode } from "react";

import { Cost } from "@/components/Cost";
import { Elapsed, RelativeTime } from "@/components/RelativeTime";
import { Theirs } from "@/components/Theirs";
import type { Sprint } from "@/lib/queries/sprints";
import { visible } from "@/lib/text/visible";

const SHORT_GOAL = 320;

interface Props {
  sprint: Sprint & { base_commit?: string | null };
  /** What the goal is for this kind of run. */
  asks?: string;
}

export function RunFacts({ sprint, asks }: Props) {
  const word = asks && <strong className="font-medium">{asks}: </strong>;
  const goal = visible(sprint.goal);
  const isShort = goal.length <= SHORT_GOAL && !goal.includes("\n");
  return (
    <div className="flex flex-col gap-2">
      {isShort ? (
        <p className="theirs max-w-4xl">
          {word}
          {goal}
        </p>
      ) : (
        <details className="max-w-4xl">
          <summary className="theirs cursor-pointer">
            {word}
            {beginning(goal)} …
          </summary>
          <p className="theirs mt-2">{goal}</p>
        </details>
      )}
      {sprint.paused && (
        <p className="theirs">
          <strong className="font-medium">Paused</strong> by <Theirs text={sprint.paused.by} />{" "}
          <RelativeTime at={sprint.paused.at} />
          {sprint.paused.reason && (
            <>
              : <Theirs text={sprint.paused.reason} />
            </>
          )}
        </p>
      )}
      {sprint.status_reason && (
        <p className="theirs">
          <strong className="font-medium">Why:</strong> <Theirs text={sprint.status_reason} />
        </p>
      )}
      <dl className="flex flex-wrap gap-x-6 gap-y-1">
        <Fact name="Started">
          <RelativeTime at={sprint.created_at} /> by <Theirs text={sprint.created_by} />
        </Fact>
        <Fact name={sprint.finished_at ? "Took" : "Since"}>
          <Elapsed from={sprint.created_at} to={sprint.finished_at} />
        </Fact>
        <Fact name="Cost">
          <Cost usage={sprint.usage} />
        </Fact>
        <Fact name="Agent">
          <Theirs text={sprint.agent} />
        </Fact>
        {sprint.project && (
          <Fact name="Project">
            <Theirs text={sprint.project} />
          </Fact>
        )}
        {sprint.base_commit && (
          <Fact name="Base">
            <code>{sprint.base_commit.slice(0, 10)}</code>
          </Fact>
        )}
        <Fact name="Id">
          <code>{sprint.id.slice(0, 8)}</code>
        </Fact>
      </dl>
    </div>
  );
}

/** The first line, cut between words. */
function beginning(goal: string): string {
  const line = goal.split("\n")[0] ?? "";
  return line.length <= SHORT_GOAL ? line : line.slice(0, SHORT_GOAL).replace(/\s+\S*$/, "");
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
