/** Keyboard shortcuts: what is on screen offers actions; the help and the palette list them all. */
import { useEffect } from "react";

import { createStore, useStore } from "./store";

export interface Action {
  /** Unique among the actions that are offered at one time. */
  id: string;
  label: string;
  /** One key such as `j` or `?`, or two in a row such as `g r`; none for the palette only. */
  keys?: string;
  group: string;
  run: () => void;
}

const store = createStore<readonly Action[]>([]);

/** Offer actions while the component is on screen. Give a stable array. */
export function useActions(actions: readonly Action[]): void {
  useEffect(() => {
    store.set([...store.get(), ...actions]);
    return () => store.set(store.get().filter((each) => !actions.includes(each)));
  }, [actions]);
}

export function useOfferedActions(): readonly Action[] {
  return useStore(store);
}

const SEQUENCE_MS = 1000;
/** Keys that go on while they are held down. Every other one counts once: a sequence such as `s s` decides something. */
const MOVES: ReadonlySet<string> = new Set(["j", "k", "[", "]", "{", "}"]);
/** After a field vanished under its writer, letters are meant for it and not for the page. */
const QUIET_MS = 4000;

/** Listen to keys on a window until the returned function is called. */
export function listenToKeys(target: Window): () => void {
  const vanished = watchFields(target);
  let first = "";
  let firstAt = 0;
  const onKey = (event: KeyboardEvent) => {
    if (isForOthers(event)) return;
    if (event.timeStamp - vanished.at() < QUIET_MS && event.key.length === 1) return;
    const both = event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${event.key}` : "";
    const offered = store.get();
    const found =
      offered.findLast((each) => each.keys === both) ?? offered.findLast((each) => each.keys === event.key);
    first = event.key;
    firstAt = event.timeStamp;
    if (!found) return;
    event.preventDefault();
    first = "";
    found.run();
  };
  target.addEventListener("keydown", onKey);
  return () => {
    target.removeEventListener("keydown", onKey);
    vanished.stop();
  };
}

/** Whether a key is no shortcut of the page: a dialog has the keys for itself, and a field its text. */
function isForOthers(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
    return true;
  if (event.repeat && !MOVES.has(event.key)) return true;
  return document.querySelector("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]") !== null;
}

/** Browsers that report a removal as a blur do so in the moment of the removal. */
const SAME_MOMENT_MS = 50;

/** Notices when a field goes away while someone may be writing in it. */
function watchFields(target: Window): { at: () => number; stop: () => void } {
  let field: HTMLElement | null = null;
  let leftAt = Number.POSITIVE_INFINITY;
  let at = Number.NEGATIVE_INFINITY;
  const look = () => {
    if (field === null || field.isConnected) return;
    const now = performance.now();
    // Who left the field before knows that letters go to the page.
    if (now - leftAt < SAME_MOMENT_MS) at = now;
    field = null;
    observer.disconnect();
  };
  const observer = new MutationObserver(look);
  const onFocus = (event: FocusEvent) => {
    look();
    observer.disconnect();
    leftAt = Number.POSITIVE_INFINITY;
    field = isTyping(event.target) ? (event.target as HTMLElement) : null;
    // Its reader closes a dialog, and knows that its field goes with it.
    if (field?.closest("[role=dialog], [role=alertdialog]")) field = null;
    if (field !== null) observer.observe(document.body, { childList: true, subtree: true });
  };
  const onBlur = () => {
    leftAt = performance.now();
  };
  target.addEventListener("focusin", onFocus);
  target.addEventListener("focusout", onBlur);
  return {
    at: () => at,
    stop() {
      observer.disconnect();
      target.removeEventListener("focusin", onFocus);
      target.removeEventListener("focusout", onBlur);
    },
  };
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
