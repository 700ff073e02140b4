/** Searches a whole log, also what is not in memory: it reads the pages, and keeps only where the words are. */
import { useEffect, useRef, useState } from "react";

import { findLines, logOf } from "@/lib/log";
import { fetchEventPage } from "@/lib/queries/events";
import type { RunEvent } from "@/lib/stream/frames";
import { firstOf, lastOf, type RunEvents } from "@/lib/stream/tail";

export interface Found {
  /** Ids of the lines, the oldest first. */
  readonly hits: readonly string[];
  readonly isSearching: boolean;
  /** There are more than are kept. */
  readonly isCut: boolean;
}

const NONE: Found = { hits: [], isSearching: false, isCut: false };
const PAGE = 500;
const MOST_HITS = 10_000;
/** Words that are still being typed ask the service for nothing. */
const PAUSE_MS = 200;

export function useLogSearch(runId: string, words: string, tail: RunEvents): Found {
  const key = `${runId} ${tail.era} ${words}`;
  const [told, setTold] = useState({ key: "", found: NONE });
  const search = useRef<Search | null>(null);
  useEffect(() => {
    if (!words) return undefined;
    const begun = new Search(
      words,
      (after) => fetchEventPage(runId, after, PAGE),
      (found) => setTold({ key, found }),
    );
    search.current = begun;
    return () => begun.stop();
  }, [runId, words, key]);
  useEffect(() => {
    if (words) void search.current?.advance(tail);
  }, [words, tail]);
  return words && told.key === key ? told.found : NONE;
}

/** One search: goes on whenever there are more events. */
export class Search {
  readonly #words: string;
  readonly #fetch: (after: number) => Promise<readonly RunEvent[]>;
  readonly #tell: (found: Found) => void;
  #hits: readonly string[] = [];
  #cursor = 0;
  #tail: RunEvents | null = null;
  #isBusy = false;
  #isStopped = false;

  constructor(
    words: string,
    fetchAfter: (after: number) => Promise<readonly RunEvent[]>,
    tell: (found: Found) => void,
  ) {
    this.#words = words;
    this.#fetch = fetchAfter;
    this.#tell = tell;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Search everything up to the end of `tail`. */
  async advance(tail: RunEvents): Promise<void> {
    this.#tail = tail;
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (!this.#isDone()) await this.#step();
    } catch {
      // What was found stays; the page says that the service is away, and the next event makes it go on.
      this.#report(false);
    } finally {
      this.#isBusy = false;
    }
  }

  #isDone(): boolean {
    if (this.#isStopped || this.#tail === null || this.#hits.length >= MOST_HITS) return true;
    return this.#cursor >= lastOf(this.#tail);
  }

  async #step(): Promise<void> {
    const tail = this.#tail;
    if (tail === null) return;
    const isHere = firstOf(tail) <= this.#cursor + 1;
    if (!isHere && this.#cursor === 0) {
      this.#report(true);
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      if (this.#isStopped) return;
    }
    const page = isHere ? tail.events : await this.#fetch(this.#cursor);
    if (this.#isStopped) return;
    const behind = page.filter((each) => each.sequence > this.#cursor);
    this.#hits = [...this.#hits, ...findLines(logOf(behind), this.#words)].slice(0, MOST_HITS);
    // A page without events is the end of what the service has.
    this.#cursor = behind.at(-1)?.sequence ?? lastOf(tail);
    this.#report(!this.#isDone());
  }

  #report(isSearching: boolean): void {
    this.#tell({ hits: this.#hits, isSearching, isCut: this.#hits.length >= MOST_HITS });
  }
}
