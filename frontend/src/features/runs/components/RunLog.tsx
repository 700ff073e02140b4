/** The live log of a run of any kind. */
import { useRouterState } from "@tanstack/react-router";
import { useState } from "react";

import { LogViewer } from "@/components/log/LogViewer";
import { downloadLog } from "@/lib/download";
import { Log } from "@/lib/log";
import type { Run } from "@/lib/queries/runs";
import type { RunEvents } from "@/lib/stream/live";

interface Props {
  run: Run;
  events: RunEvents;
  find: string;
  onFind: (words: string) => void;
  /** The attempt that the reader chose. */
  attempt: number | undefined;
  phase?: string | undefined;
}

export function RunLog({ run, events, find, onFind, attempt, phase }: Props) {
  const hash = useRouterState({ select: (state) => state.location.hash });
  const named = /^L(\d+\.\d+)$/.exec(hash)?.[1] ?? "";
  const [log] = useState(() => new Log());
  const lines = log.update(events.events);
  const [words, setWords] = useState(find);
  const last = events.events.at(-1)?.sequence ?? events.after;
  return (
    <LogViewer
      lines={lines}
      isComplete={last >= events.head}
      isLive={run.finished_at === null}
      find={words}
      onFind={(next) => {
        setWords(next);
        onFind(next);
      }}
      onDownload={() => void downloadLog(run.id)}
      named={named}
      attempt={attempt}
      phase={phase}
    />
  );
}
