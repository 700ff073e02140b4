/** Changes the width of the column at its left, by pointer or arrow keys; kept in this browser. */
import { type KeyboardEvent, type PointerEvent, useState } from "react";

import { storage } from "@/lib/storage";

const KEY = "phaserunner.why-width";
const LEAST = 240;
const MOST = 800;
const USUAL = 352;
const STEP = 24;

interface ColumnWidth {
  readonly width: number;
  readonly setWidth: (width: number) => void;
}

export function useColumnWidth(): ColumnWidth {
  const [width, set] = useState(() => within(Number(storage.get(KEY) ?? USUAL)));
  return {
    width,
    setWidth(next) {
      const kept = within(next);
      storage.set(KEY, String(kept));
      set(kept);
    },
  };
}

function within(width: number): number {
  return Number.isFinite(width) && width > 0 ? Math.min(MOST, Math.max(LEAST, Math.round(width))) : USUAL;
}

export function ColumnHandle({ width, setWidth }: ColumnWidth) {
  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowLeft: -STEP, ArrowRight: STEP, Home: LEAST - width, End: MOST - width }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setWidth(width + step);
  }
  function onPointerMove(event: PointerEvent<HTMLDivElement>): void {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const left = event.currentTarget.parentElement?.getBoundingClientRect().left ?? 0;
    setWidth(event.clientX - left);
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator that moves is a widget
    <div
      role="separator"
      aria-label="Width of the evidence"
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- likewise
      tabIndex={0}
      className="absolute inset-y-0 -right-3 hidden w-2 cursor-col-resize touch-none rounded-md hover:bg-line 2xl:block"
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  );
}
