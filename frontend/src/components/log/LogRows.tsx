/** The scrolled part of a log: only the lines on screen exist, however many there are. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";

import type { LogLine } from "@/lib/log";

import { LogRow } from "./LogRow";

export interface LogRowsHandle {
  show: (index: number) => void;
  toEnd: () => void;
}

interface Props {
  ref: Ref<LogRowsHandle>;
  lines: readonly LogLine[];
  words: string;
  current: number;
  named: string;
  follows: boolean;
  onPause: () => void;
  onFollow: () => void;
}

const ROW = 18;
/** Closer to the end than this counts as at the end. */
const NEAR = 24;

export function LogRows({ ref, lines, words, current, named, follows, onPause, onFollow }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const shownNamed = useRef("");
  const count = lines.length;
  // oxlint-disable-next-line react/incompatible-library
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
    getItemKey: (index) => lines[index]?.id ?? index,
  });

  useImperativeHandle(
    ref,
    () => ({
      show: (index) => rows.scrollToIndex(index, { align: "center" }),
      toEnd: () => rows.scrollToIndex(Math.max(0, count - 1), { align: "end" }),
    }),
    [rows, count],
  );

  useLayoutEffect(() => {
    if (follows && count > 0) rows.scrollToIndex(count - 1, { align: "end" });
  }, [follows, count, rows]);

  useEffect(() => {
    if (!named || shownNamed.current === named) return;
    const index = lines.findIndex((line) => line.id === named);
    if (index < 0) return;
    shownNamed.current = named;
    rows.scrollToIndex(index, { align: "center" });
  }, [named, lines, rows]);

  function onScroll(): void {
    const box = scroller.current;
    if (!box) return;
    const rest = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (follows && box.scrollTop < top.current - 2 && rest > NEAR) onPause();
    top.current = box.scrollTop;
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
      className="mono h-[60dvh] min-h-64 overflow-auto"
      onScroll={onScroll}
      onKeyDown={(event) => {
        if (event.key !== "End") return;
        event.preventDefault();
        onFollow();
      }}
    >
      {count === 0 && <p className="p-3 text-muted">The agent has not said anything yet.</p>}
      <ol className="relative w-full" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((item) => {
          const line = lines[item.index];
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
              <LogRow line={line} number={item.index + 1} words={words} isCurrent={item.index === current} isNamed={line.id === named} />
            </li>
          );
        })}
      </ol>
    </div>
  );
}
