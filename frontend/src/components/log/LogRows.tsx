/** The scrolled part of a log: only the lines on screen exist, however many there are. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";

import type { LogLine } from "@/lib/log";

import { LogRow } from "./LogRow";

export interface LogRowsHandle {
  show: (index: number) => void;
  toEnd: () => void;
  /** The id of the first line on screen. */
  first: () => string;
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
  onName: (id: string) => void;
}

const ROW = 18;
/** Closer to the end than this counts as at the end. */
const NEAR = 24;
/** A scroll so soon after an input is the reader's; every other one comes of lines that turn out higher or lower. */
const INPUT_MS = 1_000;

export function LogRows({ ref, lines, words, current, named, follows, onPause, onFollow, onName }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const top = useRef(0);
  const inputAt = useRef(Number.NEGATIVE_INFINITY);
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
      toEnd: () => toEnd(scroller.current),
      first: () => {
        const top = scroller.current?.scrollTop ?? 0;
        const item = rows.getVirtualItems().find((each) => each.start >= top);
        return lines[item?.index ?? 0]?.id ?? "";
      },
    }),
    [rows, lines],
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
    rows.scrollToIndex(index, { align: "center" });
  }, [named, lines, rows]);

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
        const id = event.target instanceof HTMLElement ? event.target.dataset.line : undefined;
        if (id) onName(id);
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
              <LogRow
                line={line}
                number={item.index + 1}
                words={words}
                isCurrent={item.index === current}
                isNamed={line.id === named}
              />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function toEnd(box: HTMLElement | null): void {
  if (box) box.scrollTop = box.scrollHeight;
}
