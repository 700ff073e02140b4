/** The changed files, to jump to; folded up when they are many. */
import type { ReactNode } from "react";

import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { plural } from "@/lib/format";
import type { FileDiff } from "@/lib/queries/diffs";

import { Counts } from "./DiffFile";

const FEW = 6;

interface Props {
  files: readonly FileDiff[];
  idOf: (index: number) => string;
  onOpen: (path: string) => void;
  beside: ReactNode;
}

export function FileList({ files, idOf, onOpen, beside }: Props) {
  const cut = files.filter((each) => each.truncated).length;
  return (
    <details className="card px-3 py-1" open={files.length > 1 && files.length <= FEW}>
      <summary className="min-h-7 cursor-pointer">
        <span className="font-medium">{plural(files.length, "changed file")}</span> {beside}
        {cut > 0 && <StatusBadge status="skipped" word={`${plural(cut, "large file")} shortened`} />}
      </summary>
      <ul className="mt-1 flex flex-col gap-0.5 pb-1">
        {files.map((file, index) => (
          <li key={file.path} className="flex min-h-7 gap-3">
            <a
              href={`#${idOf(index)}`}
              className="inline-block min-h-7 min-w-7 break-all"
              onClick={(event) => {
                event.preventDefault();
                onOpen(file.path);
                document.querySelector(`#${idOf(index)}`)?.scrollIntoView({ block: "start" });
              }}
            >
              <code>
                <UntrustedText text={file.path} />
              </code>
            </a>
            {file.binary ? <span className="text-muted">binary</span> : <Counts {...file} />}
          </li>
        ))}
      </ul>
    </details>
  );
}
