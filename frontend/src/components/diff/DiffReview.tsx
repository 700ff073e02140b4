/** A diff to read and to comment on: by mouse, or line by line from the keyboard. */
import { useQueries } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";

import { EmptyState } from "@/components/states";
import type { LineComment } from "@/lib/diff/comments";
import type { Finding } from "@/lib/diff/findings";
import { type AttemptDiff, type DiffOf, type FileDiff, wholeFileQuery } from "@/lib/queries/diffs";

import type { CommentActions } from "./comment-actions";
import type { View } from "./DiffBlock";
import { Counts, DiffFile } from "./DiffFile";
import { FileList } from "./FileList";
import { useDiffKeys } from "./use-diff-keys";
import { useRoom } from "./use-room";

type Findings = ReadonlyMap<string, readonly Finding[]>;

interface Props {
  of: DiffOf;
  diff: AttemptDiff;
  view: View;
  comments: readonly LineComment[];
  /** By path. */
  findings: Findings;
  /** None where nothing can be said. Stable. */
  actions: CommentActions | null;
}

const NO_FINDINGS: readonly Finding[] = [];
const NO_COMMENTS: readonly LineComment[] = [];

export function DiffReview({ of, diff, view, comments, findings, actions }: Props) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<readonly string[]>([]);
  const whole = useQueries({ queries: asked.map((path) => wholeFileQuery(of, path)) });
  const files = useMemo(
    () => diff.files.map((file) => whole[asked.indexOf(file.path)]?.data ?? file),
    // oxlint-disable-next-line react/exhaustive-deps -- the array is new each time, what it holds is not
    [diff.files, asked, ...whole.map((each) => each.data)],
  );
  const open = useMemo(() => files.filter((file) => !folded.has(file.path)), [files, folded]);
  const place = useRef<HTMLDivElement>(null);
  const cursor = useDiffKeys({ files: open, actions, place });
  const rooms = useRoom(open);
  const byFile = useMemo(() => groupByPath(comments), [comments]);

  if (files.length === 0) {
    return (
      <EmptyState title="No changes">
        <p>This attempt changed no files{of.against === "previous" ? " since the previous attempt" : ""}.</p>
      </EmptyState>
    );
  }
  const toggle = (path: string) =>
    setFolded((before) =>
      before.has(path) ? new Set([...before].filter((each) => each !== path)) : new Set([...before, path]),
    );
  return (
    <div ref={place} className="flex flex-col gap-3">
      <FileList
        files={files}
        idOf={idOf}
        onOpen={(path) => folded.has(path) && toggle(path)}
        beside={<Counts {...diff} />}
      />
      {files.map((file, index) => (
        <DiffFile
          key={file.path}
          id={idOf(index)}
          file={file}
          view={view}
          comments={byFile.get(file.path) ?? NO_COMMENTS}
          findings={findings.get(file.path) ?? NO_FINDINGS}
          actions={actions}
          current={cursor?.path === file.path ? cursor.key : null}
          isOpen={!folded.has(file.path)}
          onToggle={() => toggle(file.path)}
          room={rooms.get(file.path) ?? 0}
          onWhole={() => setAsked((before) => (before.includes(file.path) ? before : [...before, file.path]))}
          isLoading={isFetching(whole, asked, file)}
        />
      ))}
      <p role="status" className="sr-only">
        {cursor?.said}
      </p>
    </div>
  );
}

function groupByPath(comments: readonly LineComment[]): ReadonlyMap<string, readonly LineComment[]> {
  const groups = new Map<string, LineComment[]>();
  for (const each of comments) groups.set(each.path, [...(groups.get(each.path) ?? []), each]);
  return groups;
}

function idOf(index: number): string {
  return `file-${index + 1}`;
}

function isFetching(
  whole: readonly { isFetching: boolean }[],
  asked: readonly string[],
  file: FileDiff,
): boolean {
  return whole[asked.indexOf(file.path)]?.isFetching ?? false;
}
