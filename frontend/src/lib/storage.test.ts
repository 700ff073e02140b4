// @vitest-environment jsdom
import { readdirSync, readFileSync } from "node:fs";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { storage } from "./storage";

const Notices = { permission: "granted", requestPermission: () => Promise.resolve("granted") };

function forbid(): void {
  vi.stubGlobal("Notification", Notices);
  vi.spyOn(window, "localStorage", "get").mockImplementation(() => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  });
}

beforeEach(() => localStorage.clear());
afterEach(() => vi.unstubAllGlobals());

it("keeps what is set until it is removed", () => {
  storage.set("a", "1");
  expect(localStorage.getItem("a")).toBe("1");
  expect([storage.get("a"), storage.keys()]).toEqual(["1", ["a"]]);
  storage.remove("a");
  expect([storage.get("a"), storage.keys()]).toEqual([null, []]);
});

it("keeps for the page what the browser has no room for", () => {
  storage.set("a", "1");
  const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("", "QuotaExceededError");
  });
  storage.set("a", "2");
  expect(storage.get("a")).toBe("2");
  full.mockRestore();
  storage.set("a", "3");
  expect([storage.get("a"), localStorage.getItem("a")]).toEqual(["3", "3"]);
});

describe("where the browser forbids to keep anything", () => {
  beforeEach(() => {
    vi.resetModules();
    forbid();
  });

  it("has a theme", async () => {
    const { theme } = await import("./theme");
    theme.start();
    expect(theme.get()).toBe("system");
    theme.set("dark");
    expect(theme.get()).toBe("dark");
  });

  it("has notifications", async () => {
    const { notifications } = await import("./notifications");
    expect(notifications.get()).toBe("off");
    await notifications.turnOn();
    expect(notifications.get()).toBe("on");
    notifications.turnOff();
    expect(notifications.get()).toBe("off");
  });

  it("knows its user", async () => {
    const { identity } = await import("./identity");
    expect(identity.get().name).toBe("");
    identity.set({ token: "", name: "ada" });
    expect(identity.get().name).toBe("ada");
  });

  it("has nothing to forget", () => {
    storage.remove("a");
    expect([storage.get("a"), storage.keys()]).toEqual([null, []]);
  });
});

it("is the only one that asks the browser", () => {
  const asking = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (path) => /(?<!\.test)\.tsx?$/.test(path) && readFileSync(`src/${path}`, "utf8").includes("localStorage"),
  );
  expect(asking).toEqual(["lib/storage.ts"]);
});
