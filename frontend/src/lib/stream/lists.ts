/** When lists of runs are fetched anew: soon after a change that they show, seldom while runs only talk. */
import type { RunState } from "./frames";
import type { ListSink } from "./stream";
import { throttle } from "./throttle";

/** Between two fetches while what lists show changes. */
export const CHANGED_MS = 1_000;
/** Between two fetches while nothing changes that lists show; an event may still say who looks after a run. */
export const SAME_MS = 3_000;

/** A list of many pages is fetched again as a whole, and the less often the more it has. */
export function isDue(list: { data: unknown; dataUpdatedAt: number }, now: number): boolean {
  const pages = (list.data as { pages?: readonly unknown[] } | undefined)?.pages?.length ?? 1;
  return pages <= FEW_PAGES || now - list.dataUpdatedAt >= pages * CHANGED_MS;
}

const FEW_PAGES = 2;

export function createListSink(refetch: () => void): ListSink {
  const shown = new Map<string, string>();
  const soon = throttle(CHANGED_MS, refetch);
  const later = throttle(SAME_MS, refetch);
  return {
    changed(state) {
      const face = faceOf(state);
      const isSame = shown.get(state.run_id) === face;
      shown.set(state.run_id, face);
      if (isSame) later();
      else soon();
    },
    resync() {
      shown.clear();
      soon();
    },
  };
}

/** All that a list can show of a run. */
function faceOf({ last_sequence: _sequence, updated_at: _at, ...face }: RunState): string {
  return JSON.stringify(face);
}
