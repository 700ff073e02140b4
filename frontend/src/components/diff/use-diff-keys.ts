/** Moves a cursor over the lines of a diff by the keyboard, and opens remarks there. */
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { Place } from "@/lib/diff/comments";
import { describeRow, hunksOf, placeOf, rowKey } from "@/lib/diff/patch";
import type { FileDiff } from "@/lib/queries/diffs";
import { type Action, useActions } from "@/lib/shortcuts";

import type { CommentActions } from "./comment-actions";

export interface Cursor {
  readonly path: string;
  readonly key: string;
  /** For those who do not see it. */
  readonly said: string;
}

interface Row extends Cursor {
  readonly place: Place;
  /** The first row of a run of changed ones. */
  readonly startsChange: boolean;
}

/** The row that the cursor is at; rows move when files are folded, and its own may go. */
interface At {
  readonly path: string;
  readonly key: string;
  /** Where the rows of its file began: there it goes on once the row is gone. */
  readonly start: number;
}

interface Given {
  files: readonly FileDiff[];
  actions: CommentActions | null;
  place: RefObject<HTMLElement | null>;
}

export function useDiffKeys({ files, actions, place }: Given): Cursor | null {
  const rows = useMemo(() => files.flatMap(rowsOf), [files]);
  const [at, setAt] = useState<At | null>(null);
  const current = useMemo(
    () => rows.find((row) => row.path === at?.path && row.key === at.key) ?? null,
    [rows, at],
  );
  const latest = useRef({ rows, at, current, actions });
  useEffect(() => {
    latest.current = { rows, at, current, actions };
  });

  const move = useCallback((step: 1 | -1, stops: (row: Row, before: Row | undefined) => boolean) => {
    const { rows, at, current } = latest.current;
    for (let next = indexOf(rows, at, current, step) + step; next >= 0 && next < rows.length; next += step) {
      const row = rows[next];
      if (row && stops(row, rows[next - 1])) {
        setAt({ path: row.path, key: row.key, start: rows.findIndex((each) => each.path === row.path) });
        return;
      }
    }
  }, []);
  const comment = useCallback(() => {
    const { current, actions } = latest.current;
    if (current) actions?.add(current.place);
  }, []);

  useEffect(() => {
    if (!current) return;
    const file = place.current?.querySelector(`[data-file="${CSS.escape(current.path)}"]`);
    file?.querySelector(`[data-change-key="${current.key}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current, place]);

  const canComment = actions !== null;
  const offered = useMemo<readonly Action[]>(() => {
    const group = "Diff";
    const startsFile = (row: Row, before: Row | undefined) => row.path !== before?.path;
    return [
      { id: "line-down", label: "Next line of the diff", keys: "j", group, run: () => move(1, () => true) },
      { id: "line-up", label: "Previous line", keys: "k", group, run: () => move(-1, () => true) },
      {
        id: "change-down",
        label: "Next change",
        keys: "]",
        group,
        run: () => move(1, (row) => row.startsChange),
      },
      {
        id: "change-up",
        label: "Previous change",
        keys: "[",
        group,
        run: () => move(-1, (row) => row.startsChange),
      },
      { id: "file-down", label: "Next file", keys: "}", group, run: () => move(1, startsFile) },
      { id: "file-up", label: "Previous file", keys: "{", group, run: () => move(-1, startsFile) },
      ...(canComment
        ? [{ id: "comment", label: "Comment on the line", keys: "c", group, run: comment }]
        : []),
    ];
  }, [move, comment, canComment]);
  useActions(offered);
  return current;
}

/** Where a step begins: at the cursor, or between the rows where it was. */
function indexOf(rows: readonly Row[], at: At | null, current: Row | null, step: 1 | -1): number {
  if (current) return rows.indexOf(current);
  if (!at) return -1;
  const start = Math.min(at.start, rows.length);
  return step === 1 ? start - 1 : start;
}

function rowsOf(file: FileDiff): readonly Row[] {
  return hunksOf(file).flatMap((hunk) =>
    hunk.changes.map((change, index) => ({
      path: file.path,
      key: rowKey(change),
      place: placeOf(file.path, change),
      said: describeRow(change),
      startsChange: change.type !== "normal" && (index === 0 || hunk.changes[index - 1]?.type === "normal"),
    })),
  );
}
