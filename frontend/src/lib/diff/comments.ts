/** Remarks on lines of a diff, as a reviewer types them. Pure. */
import type { Schemas } from "@/lib/api/client";

export type LineComment = Schemas["LineComment"];

/** Add an empty remark unless the line has one already. */
export function withComment(
  comments: readonly LineComment[],
  path: string,
  line: number,
): readonly LineComment[] {
  if (comments.some((each) => each.path === path && each.line === line)) return comments;
  return [...comments, { path, line, body: "" }];
}

export function withBody(
  comments: readonly LineComment[],
  path: string,
  line: number,
  body: string,
): readonly LineComment[] {
  return comments.map((each) => (each.path === path && each.line === line ? { ...each, body } : each));
}

export function withoutComment(
  comments: readonly LineComment[],
  path: string,
  line: number,
): readonly LineComment[] {
  return comments.filter((each) => each.path !== path || each.line !== line);
}

/** Those that say something. */
export function written(comments: readonly LineComment[]): readonly LineComment[] {
  return comments.filter((each) => each.body.trim() !== "");
}
