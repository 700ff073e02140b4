/** Who uses this page: an API token where the service asks for one, else a name; kept in this browser. */
import { storage } from "./storage";
import { createStore } from "./store";

export interface Identity {
  readonly token: string;
  readonly name: string;
}

const KEY = "phaserunner.identity";

function read(): Identity {
  try {
    const kept: unknown = JSON.parse(storage.get(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return { token: "", name: "" };
    const { token, name } = kept as Partial<Record<string, unknown>>;
    return { token: typeof token === "string" ? token : "", name: typeof name === "string" ? name : "" };
  } catch {
    return { token: "", name: "" };
  }
}

const store = createStore<Identity>(read());

export const identity = {
  get: store.get,
  subscribe: store.subscribe,
  set(next: Identity): void {
    const kept = { token: next.token.trim(), name: next.name.trim() };
    storage.set(KEY, JSON.stringify(kept));
    store.set(kept);
  },
};
