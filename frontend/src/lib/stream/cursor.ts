/** The law of exactly once: in order, drop what was seen, never step over a gap. Pure. */

export type Step = "take" | "drop" | "gap";

/** What to do with an event when `cursor` is the last sequence that was processed. */
export function judge(cursor: number, sequence: number): Step {
  if (sequence <= cursor) return "drop";
  return sequence === cursor + 1 ? "take" : "gap";
}

export interface Taken<E> {
  readonly cursor: number;
  readonly events: readonly E[];
  /** True when something between the cursor and a given event is missing; what follows it is not taken. */
  readonly gap: boolean;
}

/** Take as many of `events` as follow each other. */
export function takeInOrder<E extends { sequence: number }>(cursor: number, events: readonly E[]): Taken<E> {
  const taken: E[] = [];
  let here = cursor;
  for (const event of events) {
    const step = judge(here, event.sequence);
    if (step === "gap") return { cursor: here, events: taken, gap: true };
    if (step === "take") {
      taken.push(event);
      here = event.sequence;
    }
  }
  return { cursor: here, events: taken, gap: false };
}
