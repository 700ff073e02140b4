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

interface Given {
  files: readonly FileDiff[];
  actions: CommentActions | null;
  place: RefObject<HTMLElement | null>;
}

export function useDiffKeys({ files, actions, place }: Given): Cursor | null {
  const rows = useMemo(() => files.flatMap(rowsOf), [files]);
  const [at, setAt] = useState(-1);
  const current = at >= 0 ? (rows[Math.min(at, rows.length - 1)] ?? null) : null;
  const latest = useRef({ rows, at, current, actions });
  useEffect(() => {
    latest.current = { rows, at, current, actions };
  });

  const move = useCallback((step: 1 | -1, stops: (row: Row, before: Row | undefined) => boolean) => {
    const { rows, at } = latest.current;
    for (let next = at + step; next >= 0 && next < rows.length; next += step) {
      const row = rows[next];
      if (row && stops(row, rows[next - 1])) {
        setAt(next);
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
