import { execFileSync } from "node:child_process";

import { describe, expect, it } from "vitest";

import { command, curl, quote } from "./commands";

describe("quote", () => {
  it.each([
    "plain",
    "two words",
    "it's",
    '$HOME `id` "x" \\',
    "line\nbreak",
    "",
    "--flag",
    "挨拶 🙂",
    "*.py;rm",
  ])("%j reaches a program as it is", (word) => {
    const seen = execFileSync("sh", ["-c", `printf %s ${quote(word)}`], { encoding: "utf8" });
    expect(seen).toBe(word);
  });
});

it("makes a curl call whose body is the same JSON", () => {
  const body = { goal: "it's\n$1" };
  const call = curl("http://127.0.0.1:8000", "POST", "/api/v1/sprints", body, true);
  const words = execFileSync("sh", ["-c", `set -- ${call.replace(/^curl /, "")}; printf '%s\\0' "$@"`], {
    encoding: "utf8",
    env: { ...process.env, PHASERUNNER_TOKEN: "t" },
  }).split("\0");
  expect(JSON.parse(words[words.indexOf("-d") + 1]!)).toEqual(body);
  expect(words).toContain("Authorization: Bearer t");
});

describe("a command", () => {
  const HERE = "http://127.0.0.1:8000";

  it("names the service, and the repository where there is one", () => {
    expect(command(HERE, ["run", "Say it's done"])).toBe(
      `phaserunner run 'Say it'\\''s done' --url=http://127.0.0.1:8000`,
    );
    expect(command(HERE, ["result", "1f"], "/home/ada")).toBe(
      "phaserunner result 1f --repo=/home/ada --url=http://127.0.0.1:8000",
    );
  });

  it("keeps its options before the words that are none", () => {
    expect(command(HERE, ["run", "--", "-v is ignored"])).toBe(
      "phaserunner run --url=http://127.0.0.1:8000 -- '-v is ignored'",
    );
  });
});
