/** Some rows of a diff, with the remarks on their lines. */
import { memo, type ReactNode, useMemo, useState } from "react";
import { type ChangeEventArgs, Diff, type EventMap, type HunkTokens } from "react-diff-view";

import { Button } from "@/components/Button";
import { isAt, type LineComment } from "@/lib/diff/comments";
import { clipped, clippedTokens, LONGEST_LINE, textOf } from "@/lib/diff/clip";
import type { Finding } from "@/lib/diff/findings";
import { type Block, newLineOf, placeOf, rowKey } from "@/lib/diff/patch";
import { isUnrun, type Span } from "@/lib/diff/unrun";
import { formatCount } from "@/lib/format";

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
  /** New lines of the file that no test ran. */
  unrun: readonly Span[];
  /** None where nothing can be said. */
  actions: CommentActions | null;
  /** The key of the row that the keyboard is at. */
  current: string | null;
  /** Colours of the whole file; none as long as they are not known. */
  tokens: HunkTokens | null;
  /** Ask for more unchanged lines; none where all are shown. Stable. */
  onContext: ((path: string) => void) | null;
}

const NONE: string[] = [];

function DiffBlockNow(props: Props) {
  const { path, block, view, unrun, actions, current, tokens, onContext } = props;
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
  const hunk = useMemo(() => clipped(block.hunk, whole), [block.hunk, whole]);
  const colours = useMemo(
    () => tokens && clippedTokens(tokens, hunk, block.hunk),
    [tokens, hunk, block.hunk],
  );
  const widgets = widgetsOf(props, whole, (key) => setWhole((before) => new Set([...before, key])));
  const events = useMemo<EventMap>(() => {
    if (!actions) return {};
    const onClick = ({ change }: ChangeEventArgs) => {
      if (change) actions.add(placeOf(path, change));
    };
    return { onClick };
  }, [actions, path]);
  return (
    <>
      {block.heading && (
        <div className="flex flex-wrap items-center gap-x-3 bg-sunken px-2 py-0.5 text-muted">
          <code className="theirs min-w-0 flex-1">{block.heading}</code>
          {onContext && (
            <Button className="pressable" onClick={() => onContext(path)}>
              More lines
            </Button>
          )}
        </div>
      )}
      <Diff
        diffType="modify"
        viewType={view}
        hunks={[hunk]}
        widgets={widgets}
        gutterEvents={events}
        selectedChanges={current === null ? NONE : [current]}
        className={actions ? "can-comment" : ""}
        generateLineClassName={({ changes, defaultGenerate }) =>
          changes.some((each) => each?.type === "insert" && isUnrun(unrun, newLineOf(each)))
            ? `${defaultGenerate()} diff-unrun`
            : defaultGenerate()
        }
        tokens={colours}
      />
    </>
  );
}

/** What stands below rows, by their keys: findings, remarks, and the rest of very long lines. */
function widgetsOf(
  { path, block, comments, findings, actions }: Props,
  whole: ReadonlySet<string>,
  onWhole: (key: string) => void,
): Record<string, ReactNode> {
  const widgets: Record<string, ReactNode> = {};
  for (const change of block.hunk.changes) {
    const key = rowKey(change);
    const place = placeOf(path, change);
    const line = newLineOf(change);
    const said = comments.filter((each) => isAt(each, place));
    const found = line === null ? [] : findings.filter((each) => each.line === line);
    const isClipped = change.content.length > LONGEST_LINE && !whole.has(key);
    if (said.length === 0 && found.length === 0 && !isClipped) continue;
    widgets[key] = (
      <>
        {isClipped && (
          <div className="px-2 py-1 font-sans">
            <Button onClick={() => onWhole(key)}>
              Show all {formatCount(change.content.length)} characters of line {place.line}
            </Button>
          </div>
        )}
        {found.length > 0 && <FindingBox findings={found} onCopy={actions?.copy} />}
        {said.map((comment) => (
          <CommentBox
            key="comment"
            comment={comment}
            actions={actions}
            codeOf={(first, last) => textOf(block.hunk, place.side, first, last)}
          />
        ))}
      </>
    );
  }
  return widgets;
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
    one.unrun === other.unrun &&
    one.tokens === other.tokens &&
    one.onContext === other.onContext &&
    inside(one) === inside(other) &&
    sameComments(one, other),
);

function inside({ block, current }: Props): string | null {
  return current !== null && block.hunk.changes.some((each) => rowKey(each) === current) ? current : null;
}

function sameComments(one: Props, other: Props): boolean {
  if (one.comments === other.comments || (one.comments.length === 0 && other.comments.length === 0))
    return true;
  const lines = new Set(one.block.hunk.changes.map((each) => placeOf(one.path, each).line));
  const own = (props: Props) => JSON.stringify(props.comments.filter((each) => lines.has(each.line)));
  return own(one) === own(other);
}
