/** A run's log: follows until its reader scrolls up, searches, and links to single lines. */
import { ChevronsUp } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";

import { Button } from "@/components/Button";
import { DownloadButton } from "@/components/DownloadButton";
import { formatCount, plural } from "@/lib/format";
import { sequenceOf } from "@/lib/log";
import { shownLines } from "@/lib/log-fold";
import { lastOf, type RunEvents } from "@/lib/stream/tail";

import { LogFooter } from "./LogFooter";
import { LogLook, useLook } from "./LogLook";
import { LogRows, type LogRowsHandle } from "./LogRows";
import { type Found, useLogSearch } from "./use-log-search";
import { type LogWindow, useLogWindow } from "./use-log-window";
import { useSections } from "./use-sections";

interface Props {
  runId: string;
  /** The run's latest events. */
  tail: RunEvents;
  isLive: boolean;
  find: string;
  onFind: (words: string) => void;
  onDownload: () => Promise<void>;
  /** The line that the URL names, such as `12.0`. */
  named: string;
  /** The line with which the attempt begins that the reader chose; the log moves to it. */
  begins: string;
}

export function LogViewer(props: Props) {
  const { runId, tail, isLive, find, onFind, onDownload, named, begins } = props;
  const rows = useRef<LogRowsHandle>(null);
  const log = useLogWindow(runId, tail);
  const words = useDeferredValue(find);
  const found = useLogSearch(runId, words, tail);
  const look = useLook();
  const { lines } = log;
  // A search looks into folded sections, too.
  const shown = useMemo(() => (words ? null : shownLines(lines, look.folding)), [lines, words, look.folding]);
  const show = useShow(log, rows);
  const isComplete = tail.era > 0 && lastOf(tail) >= tail.head;

  // Lines that come later do not move the reader: each of these moves the log once.
  useOnce(isComplete && named ? `${tail.era} ${named}` : "", () => show(named, "center", true));
  useOnce(isComplete && begins && !named ? `${tail.era} ${begins}` : "", () => show(begins, "start"));
  const { hit, current, step } = useHits(found, words, show);

  function follow(): void {
    log.follow();
    rows.current?.toEnd();
  }

  function nameLine(id: string): void {
    log.pause();
    location.hash = `L${id}`;
  }

  const section = useSections({
    lines,
    shown,
    folding: look.folding,
    firstVisible: () => visible().first,
    show: (id) => show(id, "center", true),
    onTurn: look.turn,
  });
  const visible = () => rows.current?.visible() ?? { first: "", last: "" };
  const older = () => log.hasOlder && log.older(sequenceOf(visible().last));
  const newer = () => log.hasNewer && log.newer(sequenceOf(visible().first));
  return (
    <section aria-label="Log" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <SearchField find={find} onFind={onFind} onStep={step} />
        <span role="status" className="text-muted">
          {words && matchesOf(found, hit)}
        </span>
        <LogLook look={look} />
        <Extent log={log} head={tail.head} isComplete={isComplete} />
        <DownloadButton what="log" save={onDownload}>
          Download
        </DownloadButton>
      </div>
      <Older log={log} onOlder={older} />
      <LogRows
        ref={rows}
        lines={lines}
        shown={shown}
        folding={look.folding}
        hasTimes={look.hasTimes}
        words={words}
        current={current}
        section={section.at}
        named={named}
        follows={!log.isPaused}
        onPause={log.pause}
        onFollow={follow}
        onName={nameLine}
        onFold={look.turn}
        onEdge={(edge) => (edge === "older" ? older() : newer())}
      />
      <p role="status" className="sr-only">
        {section.said}
      </p>
      <LogFooter
        log={log}
        isLive={isLive}
        linked={lines.length === 0 ? "" : current ? "this match" : "the first visible line"}
        onFollow={follow}
        onNewer={newer}
        onLink={() => nameLine(current || visible().first)}
      />
    </section>
  );
}

interface SearchFieldProps {
  find: string;
  onFind: (words: string) => void;
  onStep: (by: number) => void;
}

function SearchField({ find, onFind, onStep }: SearchFieldProps) {
  return (
    <input
      type="search"
      aria-label="Search the log"
      placeholder="Search the log"
      maxLength={200}
      className="min-h-8 w-56 rounded-md border border-line bg-raised px-2"
      value={find}
      onChange={(event) => onFind(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        onStep(event.shiftKey ? -1 : 1);
      }}
    />
  );
}

function Older({ log, onOlder }: { log: LogWindow; onOlder: () => void }) {
  if (!log.hasOlder) return null;
  return (
    <div className="border-b border-line px-2 py-1">
      <Button weight="quiet" onClick={onOlder} disabled={log.fetching !== null}>
        <ChevronsUp aria-hidden size={16} />
        {log.fetching === "older" ? "Loading older lines …" : "Older lines"}
      </Button>
    </div>
  );
}

/** How much of the log is in memory. */
function Extent({ log, head, isComplete }: { log: LogWindow; head: number; isComplete: boolean }) {
  const { lines, first, last, hasOlder, hasNewer } = log;
  return (
    <span className="ml-auto text-muted" data-log-count={lines.length}>
      {plural(lines.length, "line")}
      {(hasOlder || hasNewer) &&
        ` of events ${formatCount(first)} to ${formatCount(last)} of ${formatCount(head)}`}
      {!isComplete && ", loading …"}
    </span>
  );
}

function matchesOf({ hits, isSearching, isCut }: Found, hit: number): string {
  if (hits.length === 0) return isSearching ? "searching …" : "no matches";
  const more = isSearching ? ", searching …" : isCut ? " or more" : "";
  return `${formatCount(Math.max(hit, 0) + 1)} of ${plural(hits.length, "line")}${more}`;
}

/** The match that the reader is at. The first one is shown as soon as it is found. */
function useHits({ hits }: Found, words: string, show: Show) {
  const [hit, setHit] = useState(-1);
  const first = hits[0] ?? "";
  useOnce(first && `${words} ${first}`, () => {
    setHit(0);
    show(first, "center");
  });
  function step(by: number): void {
    if (hits.length === 0) return;
    const next = (hit + by + hits.length) % hits.length;
    setHit(next);
    show(hits[next] ?? "", "center");
  }
  return { hit, current: hits[hit] ?? "", step };
}

type Show = (id: string, align: "center" | "start", isPageMoved?: boolean) => void;

/** Moves the log to a line, as soon as it is in memory. */
function useShow(log: LogWindow, rows: { current: LogRowsHandle | null }): Show {
  const wanted = useRef<Parameters<Show> | null>(null);
  const [asked, setAsked] = useState(0);
  const { lines, fetching } = log;
  useEffect(() => {
    if (!wanted.current || fetching === "there") return;
    const [id, align, isPageMoved = false] = wanted.current;
    const exact = lines.findIndex((line) => line.id === id);
    // A line may be there no more, while others of its event or behind it are.
    const near = () => lines.findIndex((line) => sequenceOf(line.id) >= sequenceOf(id));
    const index = exact < 0 ? near() : exact;
    if (index >= 0) rows.current?.show(index, align, isPageMoved);
    wanted.current = null;
    // What was asked for is in the reference.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [asked, lines, fetching, rows]);
  return (...which) => {
    log.goTo(sequenceOf(which[0]));
    wanted.current = which;
    setAsked((before) => before + 1);
  };
}

/** Does something when `key` becomes another one; an empty key stands for nothing to do. */
function useOnce(key: string, run: () => void): void {
  const done = useRef("");
  useEffect(() => {
    if (key && done.current !== key) run();
    done.current = key;
    // What it does may be another function each time.
    // oxlint-disable-next-line react/exhaustive-deps react/exhaustive-effect-dependencies
  }, [key]);
}
