/** Light, dark, or what the system prefers; kept in this browser. */
import { storage } from "./storage";
import { createStore } from "./store";

export type Theme = "system" | "light" | "dark";

const KEY = "phaserunner.theme";

function read(): Theme {
  const kept = storage.get(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function show(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

const store = createStore<Theme>("system");

export const theme = {
  get: store.get,
  subscribe: store.subscribe,
  start(): void {
    store.set(read());
    show(store.get());
  },
  set(next: Theme): void {
    storage.set(KEY, next);
    store.set(next);
    show(next);
  },
};
