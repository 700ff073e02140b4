/** Why runs escalate, in the words of the page. */
import type { Schemas } from "@/lib/api/client";

export const REASONS: Record<Schemas["EscalationReason"], string> = {
  attempts_exhausted: "Out of attempts",
  no_progress: "No progress",
  budget_exhausted: "Budget used up",
  day_budget_exhausted: "Budget of the day used up",
  agent_unavailable: "Agent unavailable",
  evaluator_unavailable: "Evaluator unavailable",
  worker_lost: "Workers lost",
  human_asked: "The agent asks",
  question: "The gates ask",
};
