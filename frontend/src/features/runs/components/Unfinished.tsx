/** What the agent of the running attempt has changed so far: on demand, bounded, and growing while it is open. */
import { useQuery } from "@tanstack/react-query";
import { FileDiff } from "lucide-react";
import { memo, useMemo, useState } from "react";

import { Button } from "@/components/Button";
import { RelativeTime } from "@/components/RelativeTime";
import { explain, LoadingState } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { type PlainLine, plainLines } from "@/lib/diff/plain";
import { plural } from "@/lib/format";
import { unfinishedQuery, type UnfinishedDiff } from "@/lib/queries/unfinished";
import type { Attempt, RunDetail } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";

import { Lines } from "./ChangedFiles";

const FIRST_LINES = 60;
const FIRST_FILES = 20;
const LOOKS: Record<PlainLine["kind"], string> = {
  added: "bg-added-tint",
  removed: "bg-removed-tint",
  place: "text-muted",
  same: "",
};

type Working = Pick<RunDetail, "status" | "paused" | "attempts">;

/** The attempt that an agent works on at this moment: the named one, or else the run's last. */
export function attemptAtWork(run: Working, named: Attempt | undefined): Attempt | undefined {
  const attempt = named ?? run.attempts.at(-1);
  const isAtWork = attempt?.status === "started" && run.status === "active" && !run.paused;
  return isAtWork ? attempt : undefined;
}

/** How many agents work on the attempt. */
export function candidatesAtWork(milestones: readonly RunEvent[], attempt: Attempt): number {
  const begun = milestones.flatMap((each) =>
    each.event === "candidate.started" && each.phase === attempt.phase && each.attempt === attempt.number
      ? [each.data.candidate]
      : [],
  );
  return new Set(begun).size || 1;
}

interface Props {
  runId: string;
  attempt: Attempt;
  /** How many agents work on it. */
  candidates: number;
}

export function Unfinished({ runId, attempt, candidates }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [candidate, setCandidate] = useState(0);
  return (
    <section aria-label="Changed so far" className="card flex min-w-0 flex-col gap-2 p-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <FileDiff aria-hidden size={16} />
          {isOpen ? "Hide" : "Show"} what changed so far
        </Button>
        {isOpen && candidates > 1 && (
          <label className="flex items-center gap-2">
            <span className="text-muted">Candidate</span>
            <select
              className="field min-h-8"
              value={candidate}
              onChange={(event) => setCandidate(Number(event.target.value))}
            >
              {Array.from({ length: candidates }, (_, index) => (
                <option key={index} value={index}>
                  {index + 1}
                </option>
              ))}
            </select>
          </label>
        )}
        {!isOpen && (
          <span className="text-muted">
            The agent is at work on {attempt.phase} attempt {attempt.number}.
          </span>
        )}
      </div>
      {isOpen && (
        <Growing
          key={candidate}
          runId={runId}
          phase={attempt.phase}
          number={attempt.number}
          candidate={candidate}
        />
      )}
    </section>
  );
}

interface GrowingProps {
  runId: string;
  phase: string;
  number: number;
  candidate: number;
}

function Growing({ runId, phase, number, candidate }: GrowingProps) {
  const { data, error } = useQuery(unfinishedQuery(runId, phase, number, candidate));
  const [isWhole, setWhole] = useState(false);
  if (!data) {
    if (!error) return <LoadingState what="the changes" />;
    return (
      <p role="alert" className="theirs text-muted">
        {explain(error, "read the workspace").text}
      </p>
    );
  }
  const shown = isWhole ? data.files : data.files.slice(0, FIRST_FILES);
  return (
    <>
      <p>
        {data.files.length === 0 ? (
          "Nothing has changed yet"
        ) : (
          <>
            {plural(data.changed_files, "file")} changed,{" "}
            <Lines added={data.additions} removed={data.deletions} />
          </>
        )}
        <span className="text-muted">
          {" "}
          · read <RelativeTime at={data.taken_at} />
        </span>
      </p>
      {shown.map((each) => (
        <FileSoFar key={each.path} file={each} />
      ))}
      {shown.length < data.files.length && (
        <Button className="self-start" onClick={() => setWhole(true)}>
          Show all {plural(data.files.length, "file")}
        </Button>
      )}
      {data.files.length < data.changed_files && (
        <p className="text-muted">
          Only the first {plural(data.files.length, "file")} can be shown while the agent works.
        </p>
      )}
    </>
  );
}

type File = UnfinishedDiff["files"][number];

function FileSoFar({ file }: { file: File }) {
  return (
    <details open className="min-w-0">
      <summary className="min-h-7 cursor-pointer">
        <code className="theirs">
          <UntrustedText text={file.path} />
        </code>{" "}
        {file.binary ? (
          <span className="text-muted">binary</span>
        ) : (
          <Lines added={file.additions} removed={file.deletions} />
        )}
        {file.status !== "modified" && <span className="text-muted"> {file.status.replace("_", " ")}</span>}
      </summary>
      <PatchSoFar patch={file.patch} isCut={file.truncated} />
    </details>
  );
}

/** What has not changed since the last reading is not drawn again. */
const PatchSoFar = memo(function PatchSoFar({ patch, isCut }: { patch: string; isCut: boolean }) {
  const lines = useMemo(() => plainLines(patch), [patch]);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, FIRST_LINES);
  return (
    <>
      <pre className="mono overflow-x-auto rounded-md border border-line py-1" data-patch>
        {shown.map((line, index) => (
          <div key={index} className={`w-max min-w-full px-2 ${LOOKS[line.kind]}`}>
            {line.text || " "}
          </div>
        ))}
      </pre>
      {shown.length < lines.length && (
        <Button onClick={() => setWhole(true)}>
          Show {plural(lines.length - shown.length, "more line")}
        </Button>
      )}
      {isCut && (
        <p className="text-muted">More has changed in this file than is shown while it is written.</p>
      )}
    </>
  );
});
