/** What someone types into a form, kept as long as the tab is open: while other pages are shown, and over a reload. */
import { useMemo } from "react";

import { createStore, type Store, useStore } from "./store";

const PREFIX = "phaserunner.form.";
/** Too large for what a tab may keep; such a file is chosen again after a reload. */
const ONLY_IN_MEMORY: ReadonlySet<string> = new Set(["archive"]);

const stores = new Map<string, Store<object>>();

export interface Kept<T> {
  readonly value: T;
  readonly change: (part: Partial<T>) => void;
  /** Back to the empty form. */
  readonly forget: () => void;
}

/** `empty` is a constant; `name` says whose text it is. */
export function useKept<T extends object>(name: string, empty: T): Kept<T> {
  const store = useMemo(() => storeOf(name, empty), [name, empty]);
  const value = useStore(store);
  return useMemo(
    () => ({
      value,
      change(part) {
        const next = { ...store.get(), ...part };
        store.set(next);
        write(name, next);
      },
      forget() {
        store.set(empty);
        remove(name);
      },
    }),
    [name, empty, store, value],
  );
}

function storeOf<T extends object>(name: string, empty: T): Store<T> {
  const known = stores.get(name) as Store<T> | undefined;
  if (known) return known;
  const store = createStore<T>(read(name, empty));
  stores.set(name, store as unknown as Store<object>);
  return store;
}

/** Another version of the page may have kept other fields: only those that this one knows are taken. */
function read<T extends object>(name: string, empty: T): T {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null");
    if (typeof found !== "object" || found === null) return empty;
    const known = Object.entries(found).filter(([key, value]) => isLike(value, empty[key as keyof T]));
    return { ...empty, ...Object.fromEntries(known) };
  } catch {
    return empty;
  }
}

function isLike(value: unknown, model: unknown): boolean {
  return typeof value === typeof model && Array.isArray(value) === Array.isArray(model);
}

function write(name: string, value: object): void {
  try {
    const text = JSON.stringify(value, (key, each: unknown) => (ONLY_IN_MEMORY.has(key) ? null : each));
    sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // Where nothing may be kept, memory has it.
  }
}

function remove(name: string): void {
  try {
    sessionStorage.removeItem(PREFIX + name);
  } catch {
    // There is nothing to remove.
  }
}

/** For tests: as after loading the page anew. */
export function forgetLoaded(): void {
  stores.clear();
}
