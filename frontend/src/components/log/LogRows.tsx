/** The scrolled part of a log: only the lines on screen exist, however many there are. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";

import type { LogLine } from "@/lib/log";
import { type Folding, isFolded } from "@/lib/log-fold";

import { LogRow } from "./LogRow";

export interface LogRowsHandle {
  /** Move a line into view: its index among all lines. */
  show: (index: number, align?: "center" | "start") => void;
  toEnd: () => void;
  /** The id of the first line on screen. */
  first: () => string;
}

interface Props {
  ref: Ref<LogRowsHandle>;
  lines: readonly LogLine[];
  /** Indices of the lines that are shown; null for all. */
  shown: readonly number[] | null;
  folding: Folding;
  hasTimes: boolean;
  words: string;
  current: number;
  named: string;
  follows: boolean;
  onPause: () => void;
  onFollow: () => void;
  onName: (id: string) => void;
  onFold: (id: string) => void;
}

const ROW = 18;
/** Closer to the end than this counts as at the end. */
const NEAR = 24;
/** A scroll so soon after an input is the reader's; every other one comes of lines that turn out higher or lower. */
const INPUT_MS = 1_000;

export function LogRows(props: Props) {
  const { ref, lines, shown, folding, hasTimes, words, current, named, follows } = props;
  const { onPause, onFollow, onName, onFold } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const top = useRef(0);
  const inputAt = useRef(Number.NEGATIVE_INFINITY);
  const shownNamed = useRef("");
  const count = shown?.length ?? lines.length;
  const indexAt = (place: number) => (shown ? (shown[place] ?? -1) : place);
  // oxlint-disable-next-line react/incompatible-library
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
    getItemKey: (place) => lines[indexAt(place)]?.id ?? place,
  });

  useImperativeHandle(
    ref,
    () => ({
      show: (index, align = "center") => rows.scrollToIndex(placeOf(index, shown), { align }),
      toEnd: () => toEnd(scroller.current),
      first: () => {
        const top = scroller.current?.scrollTop ?? 0;
        const item = rows.getVirtualItems().find((each) => each.start >= top);
        const place = item?.index ?? 0;
        return lines[shown ? (shown[place] ?? 0) : place]?.id ?? "";
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
  }, [follows, count]);

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

  useEffect(() => {
    if (!named || shownNamed.current === named) return;
    const index = lines.findIndex((line) => line.id === named);
    if (index < 0) return;
    shownNamed.current = named;
    rows.scrollToIndex(placeOf(index, shown), { align: "center" });
    scroller.current?.scrollIntoView({ block: "nearest" });
  }, [named, lines, shown, rows]);

  function onScroll(): void {
    const box = scroller.current;
    if (!box) return;
    const rest = box.scrollHeight - box.scrollTop - box.clientHeight;
    const isReaders = performance.now() - inputAt.current < INPUT_MS;
    if (follows && isReaders && box.scrollTop < top.current && rest > NEAR) onPause();
    top.current = box.scrollTop;
  }

  const onInput = () => {
    inputAt.current = performance.now();
  };

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
      onWheel={onInput}
      onTouchMove={onInput}
      onPointerDown={onInput}
      onPointerMove={(event) => event.buttons > 0 && onInput()}
      onKeyDown={(event) => {
        onInput();
        if (event.key !== "End") return;
        event.preventDefault();
        onFollow();
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
                number={index + 1}
                words={words}
                isCurrent={index === current}
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
