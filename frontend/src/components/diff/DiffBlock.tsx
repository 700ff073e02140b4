/** Some rows of a diff, with the remarks on their lines. */
import { type ChangeEventArgs, Diff, type EventMap } from "react-diff-view";
import { memo, type ReactNode, useMemo } from "react";

import type { LineComment } from "@/lib/diff/comments";
import type { Finding } from "@/lib/diff/findings";
import { type Block, newLineOf, rowKey } from "@/lib/diff/patch";

import type { CommentActions } from "./comment-actions";
import { CommentBox } from "./CommentBox";
import { FindingBox } from "./FindingBox";

export type View = "unified" | "split";

interface Props {
  path: string;
  block: Block;
  view: View;
  /** Those of the whole file. */
  comments: readonly LineComment[];
  /** Of the whole file. */
  findings: readonly Finding[];
  /** None where nothing can be said. */
  actions: CommentActions | null;
  /** The key of the row that the keyboard is at. */
  current: string | null;
}

const NONE: string[] = [];

function DiffBlockNow({ path, block, view, comments, findings, actions, current }: Props) {
  const widgets: Record<string, ReactNode> = {};
  for (const change of block.hunk.changes) {
    const line = newLineOf(change);
    const comment = line === null ? undefined : comments.find((each) => each.line === line);
    const found = line === null ? [] : findings.filter((each) => each.line === line);
    if (!comment && found.length === 0) continue;
    widgets[rowKey(change)] = (
      <>
        {found.length > 0 && <FindingBox findings={found} onCopy={actions?.copy} />}
        {comment && <CommentBox comment={comment} actions={actions} />}
      </>
    );
  }
  const events = useMemo<EventMap>(() => {
    if (!actions) return {};
    const onClick = ({ change }: ChangeEventArgs) => {
      const line = change && newLineOf(change);
      if (line !== null) actions.add(path, line);
    };
    return { onClick };
  }, [actions, path]);
  return (
    <>
      {block.heading && (
        <div className="bg-sunken px-2 py-0.5 text-muted">
          <code className="theirs">{block.heading}</code>
        </div>
      )}
      <Diff
        diffType="modify"
        viewType={view}
        hunks={[block.hunk]}
        widgets={widgets}
        gutterEvents={events}
        selectedChanges={current === null ? NONE : [current]}
        className={actions ? "can-comment" : ""}
      />
    </>
  );
}

/** Rows are many: they are only done again when something of theirs is new. */
export const DiffBlock = memo(
  DiffBlockNow,
  (one, other) =>
    one.block === other.block &&
    one.view === other.view &&
    one.path === other.path &&
    one.actions === other.actions &&
    one.findings === other.findings &&
    inside(one) === inside(other) &&
    sameComments(one, other),
);

function inside({ block, current }: Props): string | null {
  return current !== null && block.hunk.changes.some((each) => rowKey(each) === current) ? current : null;
}

function sameComments(one: Props, other: Props): boolean {
  if (one.comments === other.comments || (one.comments.length === 0 && other.comments.length === 0))
    return true;
  const lines = new Set(one.block.hunk.changes.map(newLineOf));
  const own = (props: Props) => JSON.stringify(props.comments.filter((each) => lines.has(each.line)));
  return own(one) === own(other);
}
