/** Whether the result merges into its source as the source is now. */
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, RefreshCw, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";

import { Button } from "@/components/Button";
import { RelativeTime } from "@/components/RelativeTime";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { plural } from "@/lib/format";
import { type MergeCheck, mergeQuery } from "@/lib/queries/results";
import type { RunDetail } from "@/lib/queries/runs";

import { JudgedAgain } from "./JudgedAgain";

interface Props {
  run: RunDetail;
  /** The service fetches a remote branch only when someone asks. */
  isRemote: boolean;
}

export function MergeState({ run, isRemote }: Props) {
  const [isAsked, setAsked] = useState(!isRemote);
  const { data, error, isFetching, refetch } = useQuery({ ...mergeQuery(run.id), enabled: isAsked });
  return (
    <div className="flex min-w-0 flex-col gap-1" data-merge={data?.state ?? ""}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span role="status">
          {data ? (
            <Found check={data} />
          ) : (
            !error && <span className="text-muted">{waiting(isFetching)}</span>
          )}
          {error && !isFetching && (
            <span className="theirs text-failed">{explain(error, "check the merge").text}</span>
          )}
        </span>
        {data && (
          <span className="text-muted">
            Checked <RelativeTime at={data.checked_at} />
          </span>
        )}
        <Button disabled={isFetching} onClick={() => (isAsked ? void refetch() : setAsked(true))}>
          <RefreshCw aria-hidden size={14} />
          {data || error ? "Check again" : "Check the merge"}
        </Button>
        <JudgedAgain run={run} />
      </div>
      {data && data.conflicts.length > 0 && (
        <ul className="list-disc pl-6" aria-label="Files in conflict">
          {data.conflicts.map((each) => (
            <li key={each}>
              <code className="theirs">
                <UntrustedText text={each} />
              </code>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function waiting(isFetching: boolean): string {
  return isFetching ? "Comparing with the source …" : "Not compared with the source yet.";
}

function Found({ check }: { check: MergeCheck }) {
  const onto = check.branch === "HEAD" ? "the default branch" : check.branch;
  const moved = check.moved && check.state !== "contained" ? ", which moved on since the run started" : "";
  switch (check.state) {
    case "clean":
      return (
        <Line icon={<CircleCheck aria-hidden size={16} className="shrink-0 text-passed" />}>
          Merges cleanly onto <Branch name={onto} /> today{moved}.
        </Line>
      );
    case "contained":
      return (
        <Line icon={<CircleCheck aria-hidden size={16} className="shrink-0 text-passed" />}>
          <Branch name={onto} /> already contains these changes.
        </Line>
      );
    case "conflicts":
      return (
        <Line icon={<TriangleAlert aria-hidden size={16} className="shrink-0 text-failed" />}>
          Conflicts with <Branch name={onto} /> in {plural(check.conflicts.length, "file")}
          {moved}. Take the branch and merge it by hand, or start a new sprint.
        </Line>
      );
  }
}

function Line({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <span className="inline-flex items-start gap-1.5">
      <span className="pt-0.5">{icon}</span>
      <span className="theirs">{children}</span>
    </span>
  );
}

function Branch({ name }: { name: string }) {
  return (
    <code>
      <UntrustedText text={name} />
    </code>
  );
}
