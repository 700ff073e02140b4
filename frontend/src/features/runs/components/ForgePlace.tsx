/** Where a run is on its forge: the pull request with its state, and what keeps a report from arriving. */
import { Link } from "@tanstack/react-router";
import { GitPullRequest } from "lucide-react";

import { RelativeTime } from "@/components/RelativeTime";
import { UntrustedText } from "@/components/UntrustedText";
import type { Schemas } from "@/lib/api/client";
import { endOfPull, pullUrl, pushInWords, reviewInWords, sequelOf, stateOfPull } from "@/lib/forge";

type Forge = Schemas["ForgeView"];

/** The pull request in a line of a list; nothing without one. */
export function PullLink({ forge }: { forge: Forge }) {
  if (forge.pull_number === null) return null;
  return (
    <span className="shrink-0 text-xs text-muted" data-pull>
      <Pull forge={forge} /> {stateOfPull(forge)}
    </span>
  );
}

export function ForgePlace({ forge, run }: { forge: Forge; run: string }) {
  return (
    <div className="theirs flex flex-col gap-1" data-forge>
      <p className="flex flex-wrap items-center gap-x-1.5">
        <GitPullRequest aria-hidden size={16} />
        <strong className="font-medium">Pull request:</strong>
        {forge.pull_number === null ? (
          <span>none yet</span>
        ) : (
          <span>
            <Pull forge={forge} /> {endOfPull(forge)}
            {forge.outcome_by && (
              <>
                {" "}
                by <UntrustedText text={forge.outcome_by} />
              </>
            )}
            {forge.outcome_at && (
              <>
                {" "}
                <RelativeTime at={forge.outcome_at} />
              </>
            )}
            {sequelOf(forge) && `, ${sequelOf(forge)}`}
          </span>
        )}
        <span className="text-muted">
          in <UntrustedText text={forge.repository} />
          {forge.issue !== null && `, for issue #${forge.issue}`}
        </span>
      </p>
      {forge.reverted_commit && (
        <p className="text-failed" data-reverted>
          Commit {forge.reverted_commit.slice(0, 12)} reverted the merge
          {forge.reverted_at && (
            <>
              {" "}
              <RelativeTime at={forge.reverted_at} />
            </>
          )}
          .
        </p>
      )}
      {forge.root_run_id && (
        <p>
          This is a round: it goes on with the work of{" "}
          <Link to="/sprints/$id" params={{ id: forge.root_run_id }} className="underline">
            run {forge.root_run_id.slice(0, 8)}
          </Link>
          .
        </p>
      )}
      {forge.review && <Review review={forge.review} own={run} />}
      {forge.problem && (
        <p className="text-failed">
          <UntrustedText text={`Not on the forge: ${forge.problem}`} />
        </p>
      )}
    </div>
  );
}

/** What reviewers and checks say, and the round that answers them. */
function Review({ review, own }: { review: Schemas["ReviewView"]; own: string }) {
  const round = review.round_run_id;
  return (
    <>
      <p data-review>
        <strong className="font-medium">Review:</strong> <UntrustedText text={reviewInWords(review)} />
        {round !== null && round !== own && (
          <>
            {", "}
            <Link to="/sprints/$id" params={{ id: round }} className="underline">
              newest round: run {round.slice(0, 8)}
            </Link>
          </>
        )}
      </p>
      {review.push && (
        <p data-push className={review.push.status === "passed" ? undefined : "text-failed"}>
          <strong className="font-medium">Pushed by others:</strong>{" "}
          <UntrustedText text={pushInWords(review.push)} />
        </p>
      )}
      {review.problem && (
        <p className="text-failed">
          <UntrustedText text={`The forge could not be asked: ${review.problem}`} />
        </p>
      )}
    </>
  );
}

function Pull({ forge }: { forge: Forge }) {
  const url = pullUrl(forge);
  const name = `#${forge.pull_number}`;
  if (url === null) return <span>{name}</span>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      className="underline"
      aria-label={`Pull request ${name}, ${stateOfPull(forge)}`}
    >
      {name}
    </a>
  );
}
