/** The candidates of an attempt as tabs: what each produced, what the gates said, and why one was chosen. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Tabs } from "radix-ui";
import type { ReactNode } from "react";

import { buttonClass } from "@/components/Button";
import { Disclosure } from "@/components/Disclosure";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import { UntrustedText } from "@/components/UntrustedText";
import type { Schemas } from "@/lib/api/client";
import { formatCost, formatDuration, plural } from "@/lib/format";
import { type Attempt, attemptQuery } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";

import { agentOf, choiceOf, gatesOf } from "../candidates";
import { CandidateColumns } from "./CandidateColumns";

type Candidate = Schemas["CandidateView"];

interface Props {
  runId: string;
  attempt: Attempt;
  events: readonly RunEvent[];
  /** Counted from 1. */
  shown: number | undefined;
  onShow: (candidate: number | undefined) => void;
  /** The evidence of the attempt as one candidate left it. */
  children: (attempt: Attempt) => ReactNode;
}

const TAB = [
  "inline-flex min-h-9 items-center gap-2 border-b-2 border-transparent px-3 font-medium text-muted",
  "data-[state=active]:border-accent data-[state=active]:text-ink",
].join(" ");

export function Candidates({ runId, attempt, events, shown, onShow, children }: Props) {
  const isOver = attempt.completed_at !== null;
  const { data } = useQuery({
    ...attemptQuery(runId, attempt.phase, attempt.number),
    enabled: isOver,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const candidates = data?.candidates ?? [];
  if (candidates.length < 2) return children(attempt);
  const chosen = candidates.find((each) => each.chosen) ?? candidates[0];
  const current = candidates.find((each) => each.index + 1 === shown) ?? chosen;
  if (!current) return children(attempt);
  return (
    <Tabs.Root
      value={String(current.index)}
      onValueChange={(next) => onShow(Number(next) === chosen?.index ? undefined : Number(next) + 1)}
    >
      <Tabs.List aria-label="Candidates" className="mb-3 flex flex-wrap border-b border-line">
        {candidates.map((each) => (
          <Tabs.Trigger key={each.id} value={String(each.index)} className={TAB}>
            Candidate {each.index + 1}
            {agentOf(candidates, each) && (
              <span className="theirs text-muted">
                <UntrustedText text={agentOf(candidates, each)} />
              </span>
            )}
            <StatusBadge status={gatesOf(each).status} compact />
            {each.chosen && <span className="rounded-full border border-line px-2 text-xs">chosen</span>}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <div className="mb-3">
        <Disclosure summary="Candidates side by side">
          {() => <CandidateColumns candidates={candidates} />}
        </Disclosure>
      </div>
      <Tabs.Content value={String(current.index)} tabIndex={-1} className="flex flex-col gap-3">
        <Facts candidate={current} runId={runId} attempt={attempt} />
        <p className="theirs text-muted">
          <UntrustedText text={choiceOf(attempt, candidates, current, events)} />
        </p>
        {current.error && <UntrustedBlock text={current.error} />}
        {children(current.chosen ? attempt : asAttempt(attempt, current))}
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** The attempt as it would be with another candidate. */
function asAttempt(attempt: Attempt, candidate: Candidate): Attempt {
  return {
    ...attempt,
    head_commit: candidate.head_commit ?? candidate.id,
    evaluations: candidate.evaluations,
    verdict: gatesOf(candidate).status,
    verdict_reason: "",
    score: null,
    last_error: "",
  };
}

function Facts({ candidate, runId, attempt }: { candidate: Candidate; runId: string; attempt: Attempt }) {
  const { cost_usd: cost, seconds } = candidate.metrics;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <span>
        <span className="text-muted">Agent</span>{" "}
        <UntrustedText text={[candidate.agent, candidate.model].filter(Boolean).join(" ")} />
      </span>
      {candidate.provider === "vendor-login" && (
        <span className="rounded-full border border-line px-2 text-xs">vendor login</span>
      )}
      <span>
        <span className="text-muted">Cost</span> {formatCost(typeof cost === "number" ? cost : null)}
      </span>
      {typeof seconds === "number" && (
        <span>
          <span className="text-muted">Took</span> {formatDuration(seconds * 1000)}
        </span>
      )}
      <span>{plural(candidate.changed_files.length, "changed file")}</span>
      {candidate.head_commit && (
        <Link
          to="/sprints/$id/diff"
          params={{ id: runId }}
          search={{
            phase: attempt.phase as "coding",
            attempt: attempt.number,
            candidate: candidate.index + 1,
          }}
          className={buttonClass()}
        >
          Show its diff
        </Link>
      )}
    </div>
  );
}
