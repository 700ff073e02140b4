/** Which dialog of the shell is open; at most one is. */
import { createStore } from "@/lib/store";

export type Overlay = "none" | "palette" | "help";

const store = createStore<Overlay>("none");

export const overlays = {
  get: store.get,
  subscribe: store.subscribe,
  open: (overlay: Exclude<Overlay, "none">): void => store.set(overlay),
  close: (): void => store.set("none"),
};
