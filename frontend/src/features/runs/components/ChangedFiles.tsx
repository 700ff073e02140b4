/** The files that a result changes, with their numbers of lines. */
import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";

import { Button } from "@/components/Button";
import { explain, LoadingState } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { plural } from "@/lib/format";
import type { ResultFiles } from "@/lib/queries/results";

const SHOWN = 8;

export function ChangedFiles({ query }: { query: UseQueryResult<ResultFiles> }) {
  const [isWhole, setWhole] = useState(false);
  if (query.error) {
    return (
      <p role="alert" className="theirs text-failed">
        {explain(query.error, "list the changed files").text}
      </p>
    );
  }
  if (!query.data) return <LoadingState what="the changed files" />;
  const { files, additions, deletions } = query.data;
  if (files.length === 0) return <p>The run changed no files.</p>;
  const shown = isWhole ? files : files.slice(0, SHOWN);
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p>
        {plural(files.length, "file")} changed, <Lines added={additions} removed={deletions} />
      </p>
      <ul className="flex min-w-0 flex-col" aria-label="Changed files">
        {shown.map((each) => (
          <li key={each.path} className="flex min-w-0 items-baseline gap-3">
            <span className="min-w-20 shrink-0 text-right">
              {each.binary ? (
                <span className="text-muted">binary</span>
              ) : (
                <Lines added={each.additions} removed={each.deletions} />
              )}
            </span>
            <code className="theirs min-w-0">
              {each.old_path && (
                <>
                  <UntrustedText text={each.old_path} /> →{" "}
                </>
              )}
              <UntrustedText text={each.path} />
            </code>
            {each.status !== "modified" && (
              <span className="text-muted">{each.status.replace("_", " ")}</span>
            )}
          </li>
        ))}
      </ul>
      {files.length > shown.length && (
        <Button className="self-start" onClick={() => setWhole(true)}>
          Show all {plural(files.length, "file")}
        </Button>
      )}
    </div>
  );
}

export function Lines({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="mono whitespace-nowrap">
      <span className="text-added">+{added}</span> <span className="text-removed">−{removed}</span>
    </span>
  );
}
