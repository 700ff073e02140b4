/** Puts a long diff on the page bit by bit: the first screen at once, the rest in idle time. */
import { startTransition, useEffect, useMemo, useState } from "react";

import { blocksOf, hunksOf } from "@/lib/diff/patch";
import type { FileDiff } from "@/lib/queries/diffs";

const AT_ONCE = 3;
const STEP = 4;

/** For each file by its path: how many of its blocks may be on the page. In the end all. */
export function useRoom(files: readonly FileDiff[]): ReadonlyMap<string, number> {
  const counts = useMemo(
    () => files.map((file) => [file.path, blocksOf(hunksOf(file)).length] as const),
    [files],
  );
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const [room, setRoom] = useState(AT_ONCE);
  useEffect(() => {
    if (room >= total) return undefined;
    // A separate task each time: clicks and keys get their turn in between.
    const timer = setTimeout(() => startTransition(() => setRoom((before) => before + STEP)), 0);
    return () => clearTimeout(timer);
  }, [room, total]);
  return useMemo(() => share(counts, room), [counts, room]);
}

function share(counts: readonly (readonly [string, number])[], room: number): ReadonlyMap<string, number> {
  const given = new Map<string, number>();
  let left = room;
  for (const [path, count] of counts) {
    given.set(path, Math.min(count, Math.max(0, left)));
    left -= count;
  }
  return given;
}
