/** The scrolled part of a log: only the lines on screen exist, however many there are. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";

import type { LogLine } from "@/lib/log";
import { type Folding, isFolded } from "@/lib/log-fold";

import { LogRow } from "./LogRow";

export interface LogRowsHandle {
  /** Move a line into view, by its index among all lines; if wanted, the log as well. */
  show: (index: number, align: "center" | "start", isPageMoved: boolean) => void;
  toEnd: () => void;
  /** The ids of the first and the last line on screen. */
  visible: () => { first: string; last: string };
}

interface Props {
  ref: Ref<LogRowsHandle>;
  lines: readonly LogLine[];
  /** Indices of the lines that are shown; null for all. */
  shown: readonly number[] | null;
  folding: Folding;
  hasTimes: boolean;
  words: string;
  /** The id of the match that the reader is at. */
  current: string;
  /** The id of the line of the section that the reader's keys are at. */
  section: string;
  named: string;
  follows: boolean;
  onPause: () => void;
  onFollow: () => void;
  onName: (id: string) => void;
  onFold: (id: string) => void;
  /** The reader comes near the first or the last of the lines. */
  onEdge: (edge: "older" | "newer") => void;
}

const ROW = 18;
/** Closer to the end than this counts as at the end. */
const NEAR = 24;
/** Closer to the first or last line than this, more lines are asked for. */
const EDGE = 400;
/** A scroll so soon after an input is the reader's; every other one comes of lines that turn out higher or lower. */
const INPUT_MS = 1_000;

export function LogRows(props: Props) {
  const { ref, lines, shown, folding, hasTimes, words, current, section, named, follows } = props;
  const { onPause, onFollow, onName, onFold, onEdge } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const top = useRef(0);
  const inputAt = useRef(Number.NEGATIVE_INFINITY);
  const goesHome = useRef(false);
  const count = shown?.length ?? lines.length;
  const indexAt = (place: number) => (shown ? (shown[place] ?? -1) : place);
  // oxlint-disable-next-line react/incompatible-library
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
    getItemKey: (place) => lines[indexAt(place)]?.id ?? place,
    // What is read stays in its place when lines come in front or leave; not when lines are folded, and
    // while it follows, the end is what stays.
    anchorTo: shown === null && !follows ? "end" : "start",
  });

  useImperativeHandle(
    ref,
    () => ({
      show: (index, align, isPageMoved) => {
        rows.scrollToIndex(placeOf(index, shown), { align });
        if (isPageMoved) scroller.current?.scrollIntoView({ block: "nearest" });
      },
      toEnd: () => toEnd(scroller.current),
      visible: () => {
        const [top, height] = [scroller.current?.scrollTop ?? 0, scroller.current?.clientHeight ?? 0];
        const items = rows.getVirtualItems();
        const idOf = (place = 0) => lines[shown ? (shown[place] ?? 0) : place]?.id ?? "";
        return {
          first: idOf(items.find((each) => each.start >= top)?.index),
          last: idOf(items.findLast((each) => each.start <= top + height)?.index),
        };
      },
    }),
    [rows, lines, shown],
  );

  // While it follows, the end stays in view also when lines turn out higher than they were taken for. This is not
  // left to the virtualizer: it takes the end for where it was before it measured the lines.
  useLayoutEffect(() => {
    if (!follows || !list.current) return undefined;
    toEnd(scroller.current);
    const watcher = new ResizeObserver(() => toEnd(scroller.current));
    watcher.observe(list.current);
    return () => watcher.disconnect();
  }, [follows, lines, count]);

  // Lines wrap: another width makes every height that was measured wrong.
  useEffect(() => {
    const box = scroller.current;
    if (!box) return undefined;
    let width = box.clientWidth;
    const watcher = new ResizeObserver(() => {
      if (box.clientWidth === width) return;
      width = box.clientWidth;
      rows.measure();
    });
    watcher.observe(box);
    return () => watcher.disconnect();
  }, [rows]);

  function onScroll(): void {
    const box = scroller.current;
    if (!box) return;
    const [before, now] = [top.current, box.scrollTop];
    top.current = now;
    // A slow page may need longer than an input lasts for the way to the first line.
    const isReaders = goesHome.current || performance.now() - inputAt.current < INPUT_MS;
    if (now < EDGE) goesHome.current = false;
    if (!isReaders) return;
    const rest = box.scrollHeight - now - box.clientHeight;
    if (follows && now < before && rest > NEAR) onPause();
    if (now < before && now < EDGE) onEdge("older");
    if (now > before && rest < EDGE) onEdge("newer");
  }

  const onInput = () => {
    inputAt.current = performance.now();
    goesHome.current = false;
  };

  /** Who goes up at the first line does not scroll, and still wants what lies before it. */
  function onUp(): void {
    if (scroller.current?.scrollTop === 0) onEdge("older");
  }

  function onKey(key: string): void {
    onInput();
    if (key === "Home" || key === "ArrowUp" || key === "PageUp") onUp();
    if (key === "End") onFollow();
    if (key !== "Home") return;
    goesHome.current = true;
    // Rows that turn out higher than they were taken for would push the first one out of view again.
    rows.scrollToIndex(0, { align: "start" });
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      ref={scroller}
      role="log"
      aria-label="Lines of the log"
      aria-live="off"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="mono h-[60dvh] min-h-74 overflow-auto"
      onScroll={onScroll}
      onClick={(event) => {
        if (!(event.target instanceof HTMLElement)) return;
        const { line, fold } = event.target.dataset;
        if (line) onName(line);
        if (fold) onFold(fold);
      }}
      onWheel={(event) => {
        onInput();
        if (event.deltaY < 0) onUp();
      }}
      onTouchMove={onInput}
      onPointerDown={onInput}
      onPointerMove={(event) => event.buttons > 0 && onInput()}
      onKeyDown={(event) => {
        if (event.key === "End" || event.key === "Home") event.preventDefault();
        onKey(event.key);
      }}
    >
      {count === 0 && <p className="p-3 text-muted">No output from the agent yet.</p>}
      <ol ref={list} className="relative w-full" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((item) => {
          const index = indexAt(item.index);
          const line = lines[index];
          if (!line) return null;
          return (
            <li
              key={item.key}
              ref={rows.measureElement}
              data-index={item.index}
              aria-setsize={count}
              aria-posinset={item.index + 1}
              className="absolute left-0 top-0 w-full"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <LogRow
                line={line}
                words={words}
                isCurrent={line.id === current || line.id === section}
                isNamed={line.id === named}
                isFolded={isFolded(line, folding)}
                hasTimes={hasTimes}
              />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Where a line is among those that are shown; the one before it while it is folded. */
function placeOf(index: number, shown: readonly number[] | null): number {
  if (!shown) return index;
  return Math.max(
    0,
    shown.findLastIndex((each) => each <= index),
  );
}

function toEnd(box: HTMLElement | null): void {
  if (box) box.scrollTop = box.scrollHeight;
}
