/** A diff to read and to comment on: by mouse, or line by line from the keyboard. */
import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";

import { EmptyState } from "@/components/states";
import type { LineComment } from "@/lib/diff/comments";
import type { Finding } from "@/lib/diff/findings";
import type { Span } from "@/lib/diff/unrun";
import { type AttemptDiff, type DiffOf, type FileDiff, wholeFileQuery } from "@/lib/queries/diffs";

import type { CommentActions } from "./comment-actions";
import type { View } from "./DiffBlock";
import { Counts, DiffFile } from "./DiffFile";
import { FileList } from "./FileList";
import { useDiffKeys } from "./use-diff-keys";
import { useViewed } from "./use-viewed";

type Findings = ReadonlyMap<string, readonly Finding[]>;

interface Props {
  of: DiffOf;
  diff: AttemptDiff;
  view: View;
  comments: readonly LineComment[];
  /** By path. */
  findings: Findings;
  /** By path, new lines that no test ran. */
  unrun: ReadonlyMap<string, readonly Span[]>;
  /** None where nothing can be said. Stable. */
  actions: CommentActions | null;
}

const NO_FINDINGS: readonly Finding[] = [];
const NO_LINES: readonly Span[] = [];
const NO_COMMENTS: readonly LineComment[] = [];

/** Files whose first rows are drawn at once; all others when they come near the screen. */
const FIRST_FILES = 3;

/** Unchanged lines around each change: as it comes, then more, then all. */
const CONTEXTS = [3, 25, 1_000_000] as const;

export function DiffReview({ of, diff, view, comments, findings, unrun, actions }: Props) {
  const { viewed, setViewed } = useViewed(`${of.id}.${diff.base_commit}.${diff.head_commit}`);
  const [folded, setFolded] = useState<ReadonlySet<string>>(viewed);
  // Paths of files that were asked for whole, each with its lines of context.
  const [asked, setAsked] = useState<ReadonlyMap<string, number>>(new Map());
  const paths = [...asked.keys()];
  const whole = useQueries({
    queries: paths.map((path) => wholeFileQuery(of, path, asked.get(path) ?? CONTEXTS[0])),
  });
  const files = useMemo(
    () =>
      failingFirst(
        diff.files.map((file) => whole[paths.indexOf(file.path)]?.data ?? file),
        findings,
      ),
    // oxlint-disable-next-line react/exhaustive-deps -- the arrays are new each time, what they hold is not
    [diff.files, asked, findings, ...whole.map((each) => each.data)],
  );
  const open = useMemo(() => files.filter((file) => !folded.has(file.path)), [files, folded]);
  const place = useRef<HTMLDivElement>(null);
  const cursor = useDiffKeys({ files: open, actions, place });
  const byFile = useMemo(() => groupByPath(comments), [comments]);
  const fold = useCallback(
    (path: string, isFolded: boolean) => setFolded((before) => withPath(before, path, isFolded)),
    [],
  );
  const toggle = useCallback(
    (path: string) => setFolded((before) => withPath(before, path, !before.has(path))),
    [],
  );
  const markViewed = useCallback(
    (path: string, isViewed: boolean) => {
      setViewed(path, isViewed);
      fold(path, isViewed);
    },
    [setViewed, fold],
  );
  const askWhole = useCallback(
    (path: string) => setAsked((before) => new Map(before).set(path, before.get(path) ?? CONTEXTS[0])),
    [],
  );
  const askContext = useCallback(
    (path: string) =>
      setAsked((before) => {
        const now = before.get(path) ?? CONTEXTS[0];
        return new Map(before).set(path, CONTEXTS.find((each) => each > now) ?? now);
      }),
    [],
  );

  // Where there is room for both, their list stands beside the files. Two columns of code need all of it.
  const isBeside = files.length > 1 && view === "unified";

  if (files.length === 0) {
    return (
      <EmptyState title="No changes">
        <p>This attempt changed no files{of.against === "previous" ? " since the previous attempt" : ""}.</p>
      </EmptyState>
    );
  }
  return (
    <div ref={place} className="@container">
      <div className={isBeside ? "files-beside" : "flex flex-col gap-3"}>
        <FileList
          files={files}
          idOf={idOf}
          failing={findings}
          viewed={viewed}
          onOpen={(path) => fold(path, false)}
          canStandBeside={isBeside}
          beside={<Counts {...diff} />}
        />
        <div className="flex min-w-0 flex-col gap-3">
          {files.map((file, index) => (
            <DiffFile
              key={file.path}
              id={idOf(index)}
              file={file}
              view={view}
              comments={byFile.get(file.path) ?? NO_COMMENTS}
              findings={findings.get(file.path) ?? NO_FINDINGS}
              unrun={unrun.get(file.path) ?? NO_LINES}
              actions={actions}
              current={cursor?.path === file.path ? cursor.key : null}
              isOpen={!folded.has(file.path)}
              onToggle={toggle}
              isViewed={viewed.has(file.path)}
              onViewed={markViewed}
              isFirst={index < FIRST_FILES}
              onWhole={askWhole}
              onContext={hasContext(file, asked.get(file.path)) ? askContext : null}
              isLoading={whole[paths.indexOf(file.path)]?.isFetching ?? false}
            />
          ))}
        </div>
      </div>
      <p role="status" className="sr-only">
        {cursor?.said}
      </p>
    </div>
  );
}

/** Files that evaluators found something in come first; else the order stays. */
function failingFirst(files: readonly FileDiff[], findings: Findings): readonly FileDiff[] {
  const isFailing = (file: FileDiff) => findings.has(file.path);
  return [...files.filter(isFailing), ...files.filter((file) => !isFailing(file))];
}

/** New and deleted files are all there; of others there are lines left until all were asked for. */
function hasContext(file: FileDiff, asked: number | undefined): boolean {
  const isPart = file.status !== "added" && file.status !== "deleted" && !file.binary;
  return isPart && (asked ?? CONTEXTS[0]) < CONTEXTS[2];
}

function withPath(before: ReadonlySet<string>, path: string, isIn: boolean): ReadonlySet<string> {
  if (before.has(path) === isIn) return before;
  const next = new Set(before);
  if (isIn) next.add(path);
  else next.delete(path);
  return next;
}

function groupByPath(comments: readonly LineComment[]): ReadonlyMap<string, readonly LineComment[]> {
  const groups = new Map<string, LineComment[]>();
  for (const each of comments) groups.set(each.path, [...(groups.get(each.path) ?? []), each]);
  return groups;
}

function idOf(index: number): string {
  return `file-${index + 1}`;
}
