/** The live log of a run of any kind. */
import { useRouterState } from "@tanstack/react-router";
import { useState } from "react";

import { LogViewer } from "@/components/log/LogViewer";
import { downloadLog } from "@/lib/download";
import { Log } from "@/lib/log";
import type { Sprint } from "@/lib/queries/sprints";
import type { RunEvents } from "@/lib/stream/live";

interface Props {
  sprint: Sprint;
  events: RunEvents;
  find: string;
  onFind: (words: string) => void;
}

export function RunLog({ sprint, events, find, onFind }: Props) {
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
      isLive={sprint.finished_at === null}
      find={words}
      onFind={(next) => {
        setWords(next);
        onFind(next);
      }}
      onDownload={() => void downloadLog(sprint.id)}
      named={named}
    />
  );
}
