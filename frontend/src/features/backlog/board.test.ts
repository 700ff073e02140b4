import { describe, expect, test } from "vitest";

import type { BacklogProject, Board } from "@/lib/queries/backlog";

import { isEmptyBoard, limitWords } from "./board";

const PROJECT: BacklogProject = {
  project: "/home/me/shares",
  paused_at: null,
  paused_by: null,
  limits: { running: 2, waiting_for_humans: null, open_pull_requests: null, per_day: 5 },
  running: 2,
  waiting_for_humans: 1,
  open_pull_requests: 0,
  started_today: 3,
};
const NONE = { items: [], total: 0 };
const BOARD: Board = {
  waiting: [],
  waiting_total: 0,
  running: NONE,
  asks_human: NONE,
  in_review: NONE,
  done: NONE,
  projects: [],
};

describe("limitWords", () => {
  test("names a limit only where there is one", () => {
    expect(limitWords(PROJECT)).toEqual([
      "2 of 2 running",
      "1 waiting for people",
      "0 open pull requests",
      "3 of 5 started today (UTC)",
    ]);
  });
});

describe("isEmptyBoard", () => {
  test("is true only without items, runs and projects", () => {
    expect(isEmptyBoard(BOARD)).toBe(true);
    expect(isEmptyBoard({ ...BOARD, done: { items: [], total: 1 } })).toBe(false);
    expect(isEmptyBoard({ ...BOARD, projects: [PROJECT] })).toBe(false);
  });
});
