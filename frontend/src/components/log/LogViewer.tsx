/** A run's log: follows until its reader scrolls up, searches, and links to single lines. */
import { ArrowDownToLine, Download, Link2 } from "lucide-react";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";

import { Button } from "@/components/Button";
import { formatCount, plural } from "@/lib/format";
import { findLines, type LogLine } from "@/lib/log";
import { foldAll, lineOfAttempt, shownLines, turn, UNFOLDED } from "@/lib/log-fold";
import { useActions } from "@/lib/shortcuts";

import { LogRows, type LogRowsHandle } from "./LogRows";

interface Props {
  lines: readonly LogLine[];
  /** The run's events are all here. */
  isComplete: boolean;
  isLive: boolean;
  find: string;
  onFind: (words: string) => void;
  onDownload: () => void;
  /** The line that the URL names, such as `12.0`. */
  named: string;
  /** The attempt that the reader chose; the log moves to it. */
  attempt: number | undefined;
  phase: string | undefined;
}

const FIELD = "min-h-8 rounded-md border border-line bg-raised px-2";

export function LogViewer(props: Props) {
  const { lines, isComplete, isLive, find, onFind, onDownload, named, attempt, phase } = props;
  const rows = useRef<LogRowsHandle>(null);
  const [pausedAt, setPausedAt] = useState<number | null>(named ? 0 : null);
  const words = useDeferredValue(find);
  const hits = useMemo(() => findLines(lines, words), [lines, words]);
  const [hit, setHit] = useState(-1);
  const count = lines.length;
  const look = useLook();
  // A search looks into folded sections, too.
  const shown = useMemo(() => (words ? null : shownLines(lines, look.folding)), [lines, words, look.folding]);

  const begins = lineOfAttempt(lines, attempt, phase);
  const beginsAt = lines[begins]?.id;
  useEffect(() => {
    if (beginsAt === undefined || named) return;
    setPausedAt((before) => before ?? count);
    rows.current?.show(begins, "start");
    // Lines that come later do not move the reader.
    // oxlint-disable-next-line react/exhaustive-deps react/exhaustive-effect-dependencies
  }, [beginsAt]);

  useEffect(() => {
    if (named) setPausedAt((before) => before ?? count);
    // Lines that come later do not move the reader.
    // oxlint-disable-next-line react/exhaustive-deps react/exhaustive-effect-dependencies
  }, [named]);

  const firstHit = hits[0] ?? -1;
  useEffect(() => {
    setHit(-1);
    if (!words || firstHit < 0) return;
    setHit(0);
    setPausedAt((before) => before ?? count);
    rows.current?.show(firstHit);
    // Lines that come later do not move the reader.
    // oxlint-disable-next-line react/exhaustive-deps react/exhaustive-effect-dependencies
  }, [words, firstHit]);

  function step(by: number): void {
    if (hits.length === 0) return;
    const next = (hit + by + hits.length) % hits.length;
    setHit(next);
    setPausedAt((before) => before ?? count);
    rows.current?.show(hits[next] ?? 0);
  }

  function follow(): void {
    setPausedAt(null);
    rows.current?.toEnd();
  }

  function nameLine(id: string): void {
    setPausedAt((before) => before ?? count);
    location.hash = `L${id}`;
  }

  const found = words ? (hits[hit] ?? -1) : -1;
  const fresh = pausedAt === null ? 0 : Math.max(0, count - pausedAt);
  return (
    <section aria-label="Log" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          maxLength={200}
          className={`${FIELD} w-56`}
          value={find}
          onChange={(event) => onFind(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            step(event.shiftKey ? -1 : 1);
          }}
        />
        <span role="status" className="text-muted">
          {words &&
            (hits.length === 0 ? "no matches" : `${Math.max(hit, 0) + 1} of ${plural(hits.length, "line")}`)}
        </span>
        <LogLook look={look} />
        <span className="ml-auto text-muted" data-log-count={count}>
          {plural(count, "line")}
          {!isComplete && ", loading …"}
        </span>
        <Button onClick={onDownload}>
          <Download aria-hidden size={16} />
          Download
        </Button>
      </div>
      <LogRows
        ref={rows}
        lines={lines}
        shown={shown}
        folding={look.folding}
        hasTimes={look.hasTimes}
        words={words}
        current={found}
        named={named}
        follows={pausedAt === null}
        onPause={() => setPausedAt((before) => before ?? count)}
        onFollow={follow}
        onName={nameLine}
        onFold={look.turn}
      />
      <LogFooter isPaused={pausedAt !== null} isLive={isLive} fresh={fresh} onFollow={follow}>
        {count > 0 && (
          <Button
            className="ml-auto"
            weight="quiet"
            onClick={() => nameLine(lines[found]?.id ?? rows.current?.first() ?? "")}
          >
            <Link2 aria-hidden size={16} />
            Link to {found >= 0 ? "this match" : "the first visible line"}
          </Button>
        )}
      </LogFooter>
    </section>
  );
}

interface Look {
  readonly folding: typeof UNFOLDED;
  readonly hasTimes: boolean;
  readonly turn: (id: string) => void;
  readonly fold: (kind: "attempts" | "tools") => void;
  readonly toggleTimes: () => void;
}

/** What is folded, and whether times are shown; each has a key. */
function useLook(): Look {
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

function LogLook({ look }: { look: Look }) {
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

interface FooterProps {
  isPaused: boolean;
  isLive: boolean;
  /** Lines that came since the pause. */
  fresh: number;
  onFollow: () => void;
  children: ReactNode;
}

function LogFooter({ isPaused, isLive, fresh, onFollow, children }: FooterProps) {
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-3 border-t border-line px-2 py-1 text-muted">
      {isPaused ? (
        <>
          <span role="status">
            Paused{fresh > 0 && `: ${formatCount(fresh)} new ${fresh === 1 ? "line" : "lines"}`}
          </span>
          <Button onClick={onFollow}>
            <ArrowDownToLine aria-hidden size={16} />
            Follow <kbd>End</kbd>
          </Button>
        </>
      ) : (
        <span>{isLive ? "Following. Scroll up to pause." : "End of the log."}</span>
      )}
      {children}
    </div>
  );
}
