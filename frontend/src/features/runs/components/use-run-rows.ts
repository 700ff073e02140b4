/** Which rows of the table of runs are drawn: those near the screen, and the focused one with its neighbours. */
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type FocusEvent, type RefObject, useCallback, useEffect, useState } from "react";

import type { Run } from "@/lib/queries/runs";

const ROW_PX = 33;
const OVERSCAN = 12;
const NONE = -1;

interface DrawnRow {
  readonly run: Run;
  readonly index: number;
  /** Pixels of the rows before it that are not drawn. */
  readonly gap: number;
}

export function useRunRows(runs: readonly Run[], table: RefObject<HTMLTableElement | null>) {
  const [focused, setFocused] = useState(NONE);
  const top = useTopOf(table);
  const rangeExtractor = useCallback((range: Range) => withFocused(range, focused), [focused]);
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => runs[index]?.id ?? index,
    overscan: OVERSCAN,
    scrollMargin: top,
    rangeExtractor,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
  });
  const rows: DrawnRow[] = [];
  let end = top;
  for (const item of virtual.getVirtualItems()) {
    const run = runs[item.index];
    if (!run) continue;
    rows.push({ run, index: item.index, gap: item.start - end });
    end = item.end;
  }
  return {
    rows,
    rest: virtual.getTotalSize() + top - end,
    measure: virtual.measureElement,
    onFocus: ({ target }: FocusEvent) => setFocused(indexOf(target)),
    onBlur: () => setFocused(NONE),
  };
}

/** Keys go on from the focused row, also when the reader has scrolled away from it. */
function withFocused(range: Range, focused: number): number[] {
  const near = defaultRangeExtractor(range);
  if (focused === NONE) return near;
  const kept = [focused - 1, focused, focused + 1].filter((each) => each >= 0 && each < range.count);
  return [...new Set([...near, ...kept])].toSorted((one, other) => one - other);
}

function indexOf(element: Element): number {
  const index = element.closest("tr")?.dataset["index"];
  return index === undefined ? NONE : Number(index);
}

/** Where the rows begin on the page, in pixels. */
function useTopOf(table: RefObject<HTMLTableElement | null>): number {
  const [top, setTop] = useState(0);
  useEffect(() => {
    const look = () => {
      const head = table.current?.tHead;
      if (head) setTop(Math.round(head.getBoundingClientRect().bottom + window.scrollY));
    };
    const watcher = new ResizeObserver(look);
    watcher.observe(document.body);
    return () => watcher.disconnect();
  }, [table]);
  return top;
}
