/** The live log of a run of any kind. */
import { useRouterState } from "@tanstack/react-router";
import { useState } from "react";

import { LogViewer } from "@/components/log/LogViewer";
import { downloadLog } from "@/lib/download";
import { lineOfAttempt } from "@/lib/log-fold";
import type { Run } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";
import type { RunEvents } from "@/lib/stream/tail";

interface Props {
  run: Run;
  events: RunEvents;
  /** What says how the run went, from its beginning. */
  milestones: readonly RunEvent[];
  find: string;
  onFind: (words: string) => void;
  /** The attempt that the reader chose. */
  attempt: number | undefined;
  phase?: string | undefined;
}

export function RunLog({ run, events, milestones, find, onFind, attempt, phase }: Props) {
  const hash = useRouterState({ select: (state) => state.location.hash });
  const named = /^L(\d+\.\d+)$/.exec(hash)?.[1] ?? "";
  const [words, setWords] = useState(find);
  return (
    <LogViewer
      key={run.id}
      runId={run.id}
      tail={events}
      isLive={run.finished_at === null}
      find={words}
      onFind={(next) => {
        setWords(next);
        onFind(next);
      }}
      onDownload={() => downloadLog(run.id)}
      named={named}
      begins={lineOfAttempt(milestones, attempt, phase)}
    />
  );
}
