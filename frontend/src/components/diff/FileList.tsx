/** The changed files by folder, to find and to jump to; folded up when they are many. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";

import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { type FileRow, fileRows } from "@/lib/diff/file-rows";
import { plural } from "@/lib/format";
import type { FileDiff } from "@/lib/queries/diffs";

import { bringIntoView } from "./bring-into-view";
import { Counts } from "./DiffFile";

const FEW = 6;
const ROW_PX = 28;
/** From this width on the list stands beside the files; `diff.css` has it as well. */
const WIDE_PX = 1_000;

interface Props {
  files: readonly FileDiff[];
  idOf: (index: number) => string;
  /** Paths that evaluators found something in. */
  failing: { has: (path: string) => boolean };
  viewed: ReadonlySet<string>;
  onOpen: (path: string) => void;
  /** It is open from the start where it does. */
  canStandBeside: boolean;
  beside: ReactNode;
}

export function FileList({ files, idOf, failing, viewed, onOpen, canStandBeside, beside }: Props) {
  const cut = files.filter((each) => each.truncated).length;
  const [isOpen, setOpen] = useState(files.length > 1 && files.length <= FEW);
  const list = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    const room = list.current?.parentElement?.clientWidth ?? 0;
    if (canStandBeside && room >= WIDE_PX) setOpen(true);
    // oxlint-disable-next-line react/exhaustive-deps -- then its reader decides
  }, []);
  return (
    <details
      ref={list}
      className="card px-3 py-1"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      data-files
    >
      <summary className="min-h-7 cursor-pointer">
        <span className="font-medium">{plural(files.length, "changed file")}</span> {beside}
        {viewed.size > 0 && (
          <span className="text-muted">
            {" "}
            {viewed.size} of {files.length} viewed
          </span>
        )}{" "}
        {cut > 0 && <StatusBadge status="skipped" word={`${plural(cut, "large file")} shortened`} />}
      </summary>
      {isOpen && <Tree {...{ files, idOf, failing, viewed, onOpen }} />}
    </details>
  );
}

function Tree({ files, idOf, failing, viewed, onOpen }: Omit<Props, "beside" | "canStandBeside">) {
  const [words, setWords] = useState("");
  const rows = useMemo(() => fileRows(files, words), [files, words]);
  const box = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library
  const drawn = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    initialRect: { width: 600, height: 400 },
  });
  return (
    <div className="flex flex-col gap-1 pb-1">
      {files.length > FEW && (
        <input
          type="search"
          className="field max-w-80"
          aria-label="Find changed files"
          placeholder="Part of a path"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      {rows.length === 0 && <p className="text-muted">No changed file has this in its path.</p>}
      <div
        ref={box}
        className="max-h-[50dvh] overflow-y-auto"
        role="region"
        aria-label="Changed files"
        // The keyboard scrolls it.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        <ul className="relative" style={{ height: drawn.getTotalSize() }}>
          {drawn.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index];
            return (
              row && (
                <li
                  key={key}
                  className="absolute inset-x-0 flex items-center gap-3"
                  style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
                >
                  <Row {...{ row, idOf, failing, viewed, onOpen }} />
                </li>
              )
            );
          })}
        </ul>
      </div>
    </div>
  );
}

function Row({
  row,
  idOf,
  failing,
  viewed,
  onOpen,
}: Omit<Props, "files" | "beside" | "canStandBeside"> & { row: FileRow }) {
  if (row.kind === "folder") {
    return (
      <code className="truncate text-muted">
        <UntrustedText text={row.name} />
      </code>
    );
  }
  const { file, index } = row;
  return (
    <>
      <a
        href={`#${idOf(index)}`}
        className={`inline-block min-h-7 min-w-7 truncate py-1 ${row.isIndented ? "pl-4" : ""}`}
        title={file.path}
        onClick={(event) => {
          event.preventDefault();
          onOpen(file.path);
          bringIntoView(() => document.querySelector(`#${idOf(index)}`));
        }}
      >
        <code>
          <UntrustedText text={row.name} />
        </code>
      </a>
      {file.binary ? <span className="text-muted">binary</span> : <Counts {...file} />}
      {failing.has(file.path) && <StatusBadge status="failed" word="findings" />}
      {viewed.has(file.path) && <span className="text-muted">viewed</span>}
    </>
  );
}
