/** The candidates of an attempt side by side: who made it, what it changed, what each gate said. */
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import type { Schemas } from "@/lib/api/client";
import { gatesAlone } from "@/lib/attempts";
import { formatCost } from "@/lib/format";

import { gatesOf } from "../candidates";
import { COLUMN, COLUMN_HEAD, Columns, Gate, Items, Part } from "./Columns";

type Candidate = Schemas["CandidateView"];

export function CandidateColumns({ candidates }: { candidates: readonly Candidate[] }) {
  return (
    <Columns label="Candidates side by side">
      {candidates.map((each) => (
        <Column key={each.id} candidate={each} />
      ))}
    </Columns>
  );
}

function Column({ candidate }: { candidate: Candidate }) {
  const { cost_usd: cost } = candidate.metrics;
  const name = `Candidate ${candidate.index + 1}`;
  const gates = gatesAlone(candidate.evaluations);
  return (
    <article className={COLUMN} aria-label={name} data-column={candidate.index + 1}>
      <h3 className={COLUMN_HEAD}>
        {name}
        <StatusBadge status={gatesOf(candidate).status} />
        {candidate.chosen && <span className="rounded-full border border-line px-2 text-xs">chosen</span>}
      </h3>
      <Part title="Agent">
        <p className="theirs">
          <UntrustedText text={[candidate.agent, candidate.model].filter(Boolean).join(" ")} />
          <span className="text-muted"> · {formatCost(typeof cost === "number" ? cost : null)}</span>
        </p>
      </Part>
      <Part title="Changed files">
        {candidate.changed_files.length === 0 ? (
          <p className="text-muted">Nothing</p>
        ) : (
          <Items items={candidate.changed_files} />
        )}
      </Part>
      <Part title="Gates">
        {gates.length === 0 && <p className="text-muted">Not evaluated</p>}
        {gates.map((each) => (
          <Gate key={each.evaluator} gate={each} />
        ))}
      </Part>
    </article>
  );
}
