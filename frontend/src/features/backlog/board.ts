/** What the board says of a project and of itself. Pure. */
import type { BacklogProject, Board } from "@/lib/queries/backlog";

/** How much happens in a project now, with the limit where there is one. */
export function limitWords(project: BacklogProject): string[] {
  const { limits } = project;
  const words: [number, number | null | undefined, string][] = [
    [project.running, limits.running, "running"],
    [project.waiting_for_humans, limits.waiting_for_humans, "waiting for people"],
    [project.open_pull_requests, limits.open_pull_requests, "open pull requests"],
    [project.started_today, limits.per_day, "started today (UTC)"],
  ];
  return words.map(
    ([count, limit, what]) => `${count}${typeof limit === "number" ? ` of ${limit}` : ""} ${what}`,
  );
}

export function isEmptyBoard(board: Board): boolean {
  const columns = [board.running, board.asks_human, board.in_review, board.done];
  return (
    board.waiting_total === 0 && board.projects.length === 0 && columns.every((each) => each.total === 0)
  );
}
