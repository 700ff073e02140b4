/** Remarks on lines of a diff, as a reviewer types them. Pure. */

/** `old` is the file before the attempt: there stand the removed lines. */
export type Side = "new" | "old";

/** A line of a file's diff. */
export interface Place {
  readonly path: string;
  readonly line: number;
  readonly side: Side;
}

export interface LineComment {
  readonly path: string;
  /** The line, or the last one of a range. */
  readonly line: number;
  readonly body: string;
  /** The new side without it. */
  readonly side?: Side | undefined;
  /** The first line of a range; none for one line. */
  readonly start_line?: number | null | undefined;
}

export function isAt(comment: LineComment, { path, line, side }: Place): boolean {
  return comment.path === path && comment.line === line && (comment.side ?? "new") === side;
}

/** Add an empty remark unless the line has one already. */
export function withComment(comments: readonly LineComment[], at: Place): readonly LineComment[] {
  if (comments.some((each) => isAt(each, at))) return comments;
  return [...comments, { ...at, body: "", start_line: null }];
}

export function withBody(comments: readonly LineComment[], at: Place, body: string): readonly LineComment[] {
  return comments.map((each) => (isAt(each, at) ? { ...each, body } : each));
}

/** Let a remark begin at an earlier line; what is no earlier line makes it a remark on one line. */
export function withStart(
  comments: readonly LineComment[],
  at: Place,
  start: number,
): readonly LineComment[] {
  const first = Number.isInteger(start) && start >= 1 && start < at.line ? start : null;
  return comments.map((each) => (isAt(each, at) ? { ...each, start_line: first } : each));
}

export function withoutComment(comments: readonly LineComment[], at: Place): readonly LineComment[] {
  return comments.filter((each) => !isAt(each, at));
}

/** Those that say something. */
export function written(comments: readonly LineComment[]): readonly LineComment[] {
  return comments.filter((each) => each.body.trim() !== "");
}

/** Where a remark stands, such as `app/main.py:3-5 (removed)`. */
export function placeText({ path, line, side, start_line: start }: LineComment): string {
  return `${path}:${start ? `${start}-` : ""}${line}${side === "old" ? " (removed)" : ""}`;
}

/** A remark that proposes other text for its lines. */
export function withSuggestion(body: string, code: string): string {
  const before = body.trim() === "" ? "" : `${body.trimEnd()}\n`;
  return `${before}\`\`\`suggestion\n${code}\n\`\`\``;
}
