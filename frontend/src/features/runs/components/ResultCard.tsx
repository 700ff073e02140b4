/** What a finished sprint hands over: files, proof, whether it still merges, and how to take it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileDiff } from "lucide-react";

import { buttonClass } from "@/components/Button";
import { CopyLine } from "@/components/CopyLine";
import { DownloadButton } from "@/components/DownloadButton";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { downloadBundle, downloadPatch } from "@/lib/download";
import { proofOf } from "@/lib/proof";
import { resultFilesQuery, resultQuery } from "@/lib/queries/results";
import type { RunDetail } from "@/lib/queries/runs";

import { resultCommand } from "../run-commands";
import { ApplyBranch } from "./ApplyBranch";
import { ChangedFiles } from "./ChangedFiles";
import { ForgePlace } from "./ForgePlace";
import { MergeState } from "./MergeState";

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export function hasResult(run: RunDetail): boolean {
  return ENDED.has(run.status) && run.attempts.some((each) => each.head_commit !== null);
}

export function ResultCard({ run }: { run: RunDetail }) {
  const result = useQuery(resultQuery(run.id));
  const files = useQuery(resultFilesQuery(run.id));
  const isFinal = run.status === "completed";
  const proof = proofOf(run);
  const kind = String(run.source.kind);
  return (
    <section
      aria-labelledby="result"
      className="card flex min-w-0 flex-col gap-3 p-3"
      data-result={run.status}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 id="result" className="font-semibold">
          Result
        </h2>
        {isFinal ? (
          <StatusBadge
            status="passed"
            word={proof.accepted.length > 0 ? "accepted by a reviewer" : "passed the gates"}
          />
        ) : (
          <StatusBadge status="failed" word="has not passed the gates" />
        )}
        <div className="ml-auto flex flex-wrap gap-2">
          <Link to="/sprints/$id/diff" params={{ id: run.id }} className={buttonClass()}>
            <FileDiff aria-hidden size={16} />
            Read the diff
          </Link>
          <DownloadButton what="patch" save={() => downloadPatch(run.id)}>
            Download patch
          </DownloadButton>
          <DownloadButton what="bundle" save={() => downloadBundle(run.id)}>
            Download bundle
          </DownloadButton>
        </div>
      </div>
      <div className="grid gap-x-8 gap-y-3 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-3">
          <ChangedFiles query={files} />
          {isFinal && (
            <p className="theirs" data-proof>
              <strong className="font-medium">Proof:</strong> <UntrustedText text={proof.text} />
            </p>
          )}
          {proof.accepted.map((each) => (
            <p key={each} className="theirs">
              <strong className="font-medium">Accepted:</strong> <UntrustedText text={each} />
            </p>
          ))}
        </div>
        <div className="flex min-w-0 flex-col gap-3">
          {run.forge && <ForgePlace forge={run.forge} run={run.id} />}
          {(kind === "local" || kind === "git") && <MergeState run={run} isRemote={kind === "git"} />}
          {result.data && (
            <CopyLine label="Take it as a branch" text={resultCommand(run, result.data.branch)} />
          )}
          {result.data && isFinal && kind === "local" && (
            <ApplyBranch run={run} branch={result.data.branch} />
          )}
        </div>
      </div>
    </section>
  );
}
