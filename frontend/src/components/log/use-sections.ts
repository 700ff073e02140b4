/** Moves through the sections of a log by keys, and folds the one that the reader is at. */
import { useEffect, useMemo, useRef, useState } from "react";

import type { LogLine } from "@/lib/log";
import { type Folding, isFolded, nextSection } from "@/lib/log-fold";
import { type Action, useActions } from "@/lib/shortcuts";

interface Given {
  lines: readonly LogLine[];
  /** Indices of the lines that are shown; null for all. */
  shown: readonly number[] | null;
  folding: Folding;
  /** The id of the first line on the screen. */
  firstVisible: () => string;
  show: (id: string) => void;
  onTurn: (id: string) => void;
}

interface Section {
  /** The line with which the section begins; empty as long as none was chosen. */
  readonly at: string;
  /** For those who do not see it. */
  readonly said: string;
}

export function useSections(given: Given): Section {
  const [at, setAt] = useState("");
  const latest = useRef({ ...given, at });
  useEffect(() => {
    latest.current = { ...given, at };
  });
  const actions = useMemo<readonly Action[]>(() => {
    function move(by: 1 | -1): void {
      const { at, lines, shown, firstVisible, show } = latest.current;
      const next = nextSection(lines, shown, at || firstVisible(), by, at === "");
      if (!next) return;
      setAt(next);
      show(next);
    }
    const turn = () => latest.current.at && latest.current.onTurn(latest.current.at);
    const group = "Log";
    return [
      { id: "section-down", label: "Next section of the log", keys: "]", group, run: () => move(1) },
      { id: "section-up", label: "Previous section of the log", keys: "[", group, run: () => move(-1) },
      { id: "section-turn", label: "Fold or unfold the section", keys: "f", group, run: turn },
    ];
  }, []);
  useActions(actions);
  const line = given.lines.find((each) => each.id === at);
  const state = line && (isFolded(line, given.folding) ? "folded" : "unfolded");
  return { at: line ? at : "", said: line ? `${line.text}, ${state}` : "" };
}
