/** A block of a diff: whole near the screen, else as one text, which a search in the page finds. */
import { type ComponentProps, useRef } from "react";

import { LONGEST_LINE } from "@/lib/diff/clip";
import type { LineComment } from "@/lib/diff/comments";
import type { Finding } from "@/lib/diff/findings";
import { type Block, newLineOf, placeOf, rowKey } from "@/lib/diff/patch";
import { useNear } from "@/lib/near";

import { DiffBlock } from "./DiffBlock";

const ROW_PX = 18;

type Props = ComponentProps<typeof DiffBlock> & {
  /** It is drawn whole at once. */
  isFirst: boolean;
};

export function DiffPart({ isFirst, ...given }: Props) {
  const { path, block, comments, findings, current } = given;
  const place = useRef<HTMLDivElement>(null);
  const { isNear } = useNear(place, isFirst);
  const isWhole = isNear || holds(block, current) || hasMore(path, block, comments, findings);
  return (
    <div
      ref={place}
      className="diff-block"
      style={{ containIntrinsicSize: `auto ${block.hunk.changes.length * ROW_PX}px` }}
    >
      {isWhole ? <DiffBlock {...given} /> : <pre className="diff-plain">{plainOf(block)}</pre>}
    </div>
  );
}

const plainOf = (block: Block) => block.hunk.changes.map((each) => each.content).join("\n");

function holds({ hunk }: Block, key: string | null): boolean {
  return key !== null && hunk.changes.some((each) => rowKey(each) === key);
}

/** Links lead to findings, people write in remarks, and who asked for the rest of a long line keeps it. */
function hasMore(
  path: string,
  { hunk }: Block,
  comments: readonly LineComment[],
  findings: readonly Finding[],
): boolean {
  if (hunk.changes.some((each) => each.content.length > LONGEST_LINE)) return true;
  if (comments.length === 0 && findings.length === 0) return false;
  const found = new Set(findings.map((each) => each.line));
  const said = new Set(comments.map((each) => each.line));
  return hunk.changes.some((each) => found.has(newLineOf(each) ?? 0) || said.has(placeOf(path, each).line));
}
