/** Keeps what a reviewer typed in this browser until it is sent or thrown away. */
import { useCallback, useMemo } from "react";
import * as z from "zod/mini";

import { storage } from "@/lib/storage";
import { createStore, type Store, useStore } from "@/lib/store";

import { type Draft, EMPTY, isEmpty } from "./resolution";

const PREFIX = "phaserunner.draft.";
const KEPT_MS = 30 * 86_400_000;

const comment = z.object({
  path: z.string(),
  line: z.int(),
  body: z.string(),
  side: z.optional(z.enum(["new", "old"])),
  start_line: z.optional(z.nullable(z.int())),
});
const kept = z.object({
  at: z.number(),
  draft: z.object({
    decision: z.nullable(z.enum(["accept", "retry", "reject"])),
    guidance: z.string(),
    // An emptied field is no number, and JSON has no word for that.
    attempts: z.catch(z.number(), Number.NaN),
    openPaths: z.string(),
    comments: z.array(comment),
    knownFailures: z.catch(z.boolean(), false),
  }),
});

const stores = new Map<string, Store<Draft>>();

/** Another tab has the same escalation open: what is typed there is shown here, so that neither overwrites the other. */
window.addEventListener("storage", ({ key }) => {
  for (const [id, store] of stores) if (key === PREFIX + id || key === null) store.set(readDraft(id));
});

function storeOf(id: string): Store<Draft> {
  const before = stores.get(id);
  if (before) return before;
  const store = createStore<Draft>(readDraft(id));
  stores.set(id, store);
  return store;
}

export function readDraft(id: string): Draft {
  try {
    return kept.parse(JSON.parse(storage.get(PREFIX + id) ?? "")).draft;
  } catch {
    return EMPTY;
  }
}

function keep(id: string, draft: Draft): void {
  if (isEmpty(draft) && draft.decision === null) storage.remove(PREFIX + id);
  else storage.set(PREFIX + id, JSON.stringify({ at: Date.now(), draft }));
}

/** Throw away drafts of long ago. */
export function forgetOldDrafts(now: number): void {
  for (const key of storage.keys().filter((each) => each.startsWith(PREFIX))) {
    const found = kept.safeParse(safely(storage.get(key)));
    if (!found.success || now - found.data.at > KEPT_MS) storage.remove(key);
  }
}

function safely(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null;
  }
}

export interface DraftHandle {
  readonly draft: Draft;
  readonly update: (change: (before: Draft) => Draft) => void;
  readonly discard: () => void;
}

export function useDraft(id: string): DraftHandle {
  const store = useMemo(() => storeOf(id), [id]);
  const draft = useStore(store);
  const update = useCallback(
    (change: (before: Draft) => Draft) => {
      const next = change(store.get());
      store.set(next);
      keep(id, next);
    },
    [id, store],
  );
  const discard = useCallback(() => update(() => EMPTY), [update]);
  return { draft, update, discard };
}

/** For tests: as after loading the page anew. */
export function forgetLoaded(): void {
  stores.clear();
}
