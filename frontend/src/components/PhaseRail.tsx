/** The phases of a run in their order, each with its state. */
import { ChevronRight } from "lucide-react";

import type { Schemas } from "@/lib/api/client";
import { formatScore } from "@/lib/format";

import { StatusBadge } from "./StatusBadge";

interface Props {
  phases: readonly Schemas["PhaseView"][];
  isPaused: boolean;
}

export function PhaseRail({ phases, isPaused }: Props) {
  return (
    <ol className="flex flex-wrap items-center gap-2" aria-label="Phases">
      {phases.map((phase, index) => (
        <li key={phase.phase} className="flex items-center gap-2">
          {index > 0 && <ChevronRight aria-hidden size={16} className="text-muted" />}
          <div className="card flex flex-wrap items-center gap-x-3 px-3 py-1.5">
            <span className="font-medium capitalize">{phase.phase}</span>
            <StatusBadge status={isPaused && phase.status === "active" ? "paused" : phase.status} />
            {phase.attempts > 0 && (
              <span className="text-muted">
                {phase.attempts}/{phase.max_attempts}
                {phase.score !== null && ` · ${formatScore(phase.score)}`}
              </span>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
