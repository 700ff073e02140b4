/** What of a log is folded, and whether its lines have times; each has a button and a key. */
import { useMemo, useState } from "react";

import { Button } from "@/components/Button";
import { foldAll, turn, UNFOLDED } from "@/lib/log-fold";
import { useActions } from "@/lib/shortcuts";

export interface Look {
  readonly folding: typeof UNFOLDED;
  readonly hasTimes: boolean;
  readonly turn: (id: string) => void;
  readonly fold: (kind: "attempts" | "tools") => void;
  readonly toggleTimes: () => void;
}

export function useLook(): Look {
  const [folding, setFolding] = useState(UNFOLDED);
  const [hasTimes, setTimes] = useState(false);
  const look = useMemo(
    () => ({
      turn: (id: string) => setFolding((before) => turn(before, id)),
      fold: (kind: "attempts" | "tools") => setFolding((before) => foldAll(before, kind)),
      toggleTimes: () => setTimes((before) => !before),
    }),
    [],
  );
  const group = "Log";
  const actions = useMemo(
    () => [
      { id: "log-times", label: "Show or hide times in the log", keys: "t", group, run: look.toggleTimes },
      { id: "log-tools", label: "Fold tool calls", keys: "o", group, run: () => look.fold("tools") },
      { id: "log-attempts", label: "Fold attempts", keys: "p", group, run: () => look.fold("attempts") },
    ],
    [look],
  );
  useActions(actions);
  return { folding, hasTimes, ...look };
}

export function LogLook({ look }: { look: Look }) {
  const { folding, hasTimes } = look;
  return (
    <>
      <Button weight="quiet" onClick={() => look.fold("attempts")}>
        {folding.attempts ? "Unfold" : "Fold"} attempts
      </Button>
      <Button weight="quiet" onClick={() => look.fold("tools")}>
        {folding.tools ? "Unfold" : "Fold"} tools
      </Button>
      <Button weight="quiet" onClick={look.toggleTimes}>
        {hasTimes ? "Hide" : "Show"} times
      </Button>
    </>
  );
}
