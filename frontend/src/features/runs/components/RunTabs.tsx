/** Below the verdicts: the live log of the run, and the prompt and output of the chosen attempt. */
import { Tabs } from "radix-ui";

import { OutputView } from "@/components/OutputView";
import { PromptView } from "@/components/PromptView";
import type { Attempt, RunDetail } from "@/lib/queries/runs";
import type { RunSearch } from "@/lib/search";
import type { RunEvent } from "@/lib/stream/frames";
import type { RunEvents } from "@/lib/stream/tail";

import { AttemptColumns } from "./AttemptColumns";
import { RunLog } from "./RunLog";

interface Props {
  sprint: RunDetail;
  events: RunEvents;
  /** What says how the run went, from its beginning. */
  milestones: readonly RunEvent[];
  attempt: Attempt | undefined;
  search: RunSearch;
  onSearch: (part: Partial<RunSearch>) => void;
}

const TAB = [
  "min-h-9 border-b-2 border-transparent px-3 font-medium text-muted",
  "data-[state=active]:border-accent data-[state=active]:text-ink",
].join(" ");

export function RunTabs({ sprint, events, milestones, attempt, search, onSearch }: Props) {
  const tab = search.tab ?? "log";
  const of = attempt ? ` of ${attempt.phase} attempt ${attempt.number}` : "";
  return (
    <Tabs.Root
      value={tab}
      onValueChange={(next) =>
        onSearch({ tab: next === "log" ? undefined : (next as "attempts" | "prompt" | "output") })
      }
      className="mt-6"
    >
      <Tabs.List aria-label="More about this run" className="mb-3 flex flex-wrap border-b border-line">
        <Tabs.Trigger value="log" className={TAB}>
          Log
        </Tabs.Trigger>
        <Tabs.Trigger value="attempts" className={TAB} disabled={!attempt}>
          Attempts side by side
        </Tabs.Trigger>
        <Tabs.Trigger value="prompt" className={TAB} disabled={!attempt}>
          Prompt{of}
        </Tabs.Trigger>
        <Tabs.Trigger value="output" className={TAB} disabled={!attempt}>
          Output{of}
        </Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="log" tabIndex={-1}>
        <RunLog
          run={sprint}
          events={events}
          milestones={milestones}
          find={search.find ?? ""}
          onFind={(find) => onSearch({ find: find || undefined })}
          attempt={search.attempt}
          phase={search.phase}
        />
      </Tabs.Content>
      <Tabs.Content value="attempts" tabIndex={-1}>
        {attempt && <AttemptColumns attempts={sprint.attempts} phase={attempt.phase} events={milestones} />}
      </Tabs.Content>
      <Tabs.Content value="prompt" tabIndex={-1}>
        {attempt && (
          <PromptView key={attempt.id} runId={sprint.id} phase={attempt.phase} number={attempt.number} />
        )}
      </Tabs.Content>
      <Tabs.Content value="output" tabIndex={-1}>
        {attempt && <OutputView runId={sprint.id} attempt={attempt} />}
      </Tabs.Content>
    </Tabs.Root>
  );
}
