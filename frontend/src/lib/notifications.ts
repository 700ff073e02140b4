/** Notifications of the browser; nothing is asked of the user before they turn them on. */
import { storage } from "./storage";
import { createStore } from "./store";

export type NoticeState = "off" | "on" | "denied" | "unsupported";

const KEY = "phaserunner.notifications";
const SHOWN_CHARS = 200;

function read(): NoticeState {
  if (typeof Notification === "undefined") return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return storage.get(KEY) === "on" && Notification.permission === "granted" ? "on" : "off";
}

const store = createStore<NoticeState>(read());

export const notifications = {
  get: store.get,
  subscribe: store.subscribe,
  async turnOn(): Promise<void> {
    if (typeof Notification === "undefined") return;
    if ((await Notification.requestPermission()) === "granted") storage.set(KEY, "on");
    store.set(read());
  },
  turnOff(): void {
    storage.remove(KEY);
    store.set(read());
  },
  /** Show one unless the page is being looked at anyway. */
  show(title: string, body: string, onClick: () => void): void {
    if (store.get() !== "on" || document.visibilityState === "visible") return;
    const shown = new Notification(title.slice(0, SHOWN_CHARS), {
      body: body.slice(0, SHOWN_CHARS),
      icon: "/favicon.svg",
    });
    shown.addEventListener("click", () => {
      window.focus();
      shown.close();
      onClick();
    });
  },
};
