/** One file of a diff. A button brings each part that is left out. */
import { memo, useMemo, useRef, useState } from "react";

import { Button } from "@/components/Button";
import { UntrustedText } from "@/components/UntrustedText";
import type { LineComment } from "@/lib/diff/comments";
import type { Finding } from "@/lib/diff/findings";
import { blocksOf, BLOCK_ROWS, hasAllRows, hunksOf } from "@/lib/diff/patch";
import { type Span, unrunText } from "@/lib/diff/unrun";
import { saveText } from "@/lib/download";
import { formatCount, plural } from "@/lib/format";
import { useNear } from "@/lib/near";
import type { FileDiff } from "@/lib/queries/diffs";

import type { CommentActions } from "./comment-actions";
import type { View } from "./DiffBlock";
import { DiffPart } from "./DiffPart";
import { useTokens } from "./use-tokens";

const MOST_ROWS = 12_000;

interface Props {
  file: FileDiff;
  /** Unique on the page. */
  id: string;
  view: View;
  comments: readonly LineComment[];
  findings: readonly Finding[];
  /** New lines that no test ran. */
  unrun: readonly Span[];
  actions: CommentActions | null;
  current: string | null;
  isOpen: boolean;
  /** Stable, like the other functions. */
  onToggle: (path: string) => void;
  isViewed: boolean;
  onViewed: (path: string, isViewed: boolean) => void;
  /** It is among the first files, whose first rows are drawn at once. */
  isFirst: boolean;
  /** Ask for the file whole. */
  onWhole: (path: string) => void;
  /** Ask for more unchanged lines; none where all are shown. */
  onContext: ((path: string) => void) | null;
  isLoading: boolean;
}

/** There may be many files: one renders again only when its own data changes. */
export const DiffFile = memo(function DiffFile({
  file,
  id,
  view,
  comments,
  findings,
  unrun,
  actions,
  current,
  isOpen,
  onToggle,
  isViewed,
  onViewed,
  isFirst,
  onWhole,
  onContext,
  isLoading,
}: Props) {
  const hunks = useMemo(() => hunksOf(file), [file]);
  const blocks = useMemo(() => blocksOf(hunks), [hunks]);
  const isComplete = useMemo(() => hasAllRows(file), [file]);
  const [shownRows, setShownRows] = useState(MOST_ROWS);
  const most = Math.ceil(shownRows / BLOCK_ROWS);
  const left = blocks.slice(most).reduce((sum, block) => sum + block.hunk.changes.length, 0);
  const shown = blocks.slice(0, most);
  const place = useRef<HTMLElement>(null);
  const { isNear } = useNear(place, isFirst);
  const tokens = useTokens(file.path, hunks, isOpen && isNear);
  return (
    <section
      ref={place}
      id={id}
      aria-label={file.path}
      className="card diff-file scroll-mt-28 overflow-clip"
      data-file={file.path}
    >
      <FileHead {...{ file, isOpen, onToggle, isViewed, onViewed }} />
      {isOpen && (
        <div className="diff-rows">
          {!isComplete && <NotAll file={file} />}
          {unrun.length > 0 && <p className="unrun-note">{unrunText(unrun)}</p>}
          {shown.map((block, index) => (
            <DiffPart
              key={block.key}
              path={file.path}
              block={block}
              view={view}
              comments={comments}
              findings={findings}
              unrun={unrun}
              actions={actions}
              current={current}
              tokens={tokens}
              onContext={onContext}
              isFirst={isFirst && index === 0}
            />
          ))}
          {blocks.length === 0 && !file.truncated && <p className="p-3 text-muted">{emptyReason(file)}</p>}
          {left > 0 && (
            <div className="border-t border-line p-2">
              <Button onClick={() => setShownRows(Number.POSITIVE_INFINITY)}>
                Show {plural(left, "more row")}
              </Button>
            </div>
          )}
          {file.truncated && (
            <div className="flex flex-wrap items-center gap-3 border-t border-line p-2 text-muted">
              This file is large. Only its beginning is shown.
              <Button onClick={() => onWhole(file.path)} disabled={isLoading}>
                {isLoading ? "Loading …" : "Show the whole file"}
              </Button>
            </div>
          )}
        </div>
      )}
    </section>
  );
});

type HeadProps = Pick<Props, "file" | "isOpen" | "onToggle" | "isViewed" | "onViewed">;

function FileHead({ file, isOpen, onToggle, isViewed, onViewed }: HeadProps) {
  return (
    <h3 className="flex min-h-8 flex-wrap items-center gap-x-3 border-b border-line bg-sunken px-2 py-1">
      <button
        type="button"
        onClick={() => onToggle(file.path)}
        aria-expanded={isOpen}
        className="flex min-w-0 flex-1 items-center gap-2 text-left max-sm:basis-full"
      >
        <span aria-hidden className="text-muted">
          {isOpen ? "▾" : "▸"}
        </span>
        <code className="min-w-0 break-all">
          {file.old_path && (
            <>
              <UntrustedText text={file.old_path} /> <span className="text-muted">→</span>{" "}
            </>
          )}
          <UntrustedText text={file.path} />
        </code>
      </button>
      <span className="text-muted">{file.status.replaceAll("_", " ")}</span>
      {file.binary ? (
        <span className="text-muted">binary</span>
      ) : (
        <Counts additions={file.additions} deletions={file.deletions} />
      )}
      <label className="flex min-h-7 items-center gap-1 font-normal">
        <input
          type="checkbox"
          checked={isViewed}
          onChange={(event) => onViewed(file.path, event.target.checked)}
        />
        Viewed
      </label>
    </h3>
  );
}

/** The rows are fewer or more than the lines that the service counted. */
function NotAll({ file }: { file: FileDiff }) {
  const name = `${file.path.slice(file.path.lastIndexOf("/") + 1)}.patch`;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3 border-b border-line p-2 text-failed">
      The page cannot show all lines of this file. Download its patch to read them.
      <Button onClick={() => saveText(file.patch, name, "text/plain")}>Download the patch</Button>
    </div>
  );
}

export function Counts({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span className="whitespace-nowrap font-medium">
      <span className="text-added">
        +{formatCount(additions)}
        <span className="sr-only"> added</span>
      </span>{" "}
      <span className="text-removed">
        −{formatCount(deletions)}
        <span className="sr-only"> removed</span>
      </span>
    </span>
  );
}

function emptyReason(file: FileDiff): string {
  if (file.binary) return "Binary file, not shown. The result as a patch or bundle contains it.";
  if (file.status === "renamed" || file.status === "copied") return `${file.status}, content unchanged.`;
  return file.status === "added" || file.status === "deleted" ? "Empty file." : "Only the file mode changed.";
}
