/** The start form's fields, and what they mean as a request and as a command line. Pure. */
import { command, isReference } from "@/lib/commands";
import type { Phase, SprintCreate } from "@/lib/queries/runs";

import { type BudgetValues, budgetOf, compact, numberOf, scriptOf } from "./compact";
import { NO_SOURCE, repoOptions, sourceOf, type SourceValues } from "./source";

export const PHASES: readonly Phase[] = ["discovery", "coding", "verification"];

/** One of several agents that work on each attempt; without a model it takes its own. */
export interface NamedCandidate {
  readonly agent: string;
  readonly model: string;
}

export interface StartFields extends SourceValues, BudgetValues {
  goal: string;
  name: string;
  phases: readonly Phase[];
  /** `auto`, or the name of an agent. */
  backend: string;
  model: string;
  temperature: string;
  systemPrompt: string;
  candidates: string;
  /** Instead of a number, an agent and a model. */
  named: readonly NamedCandidate[];
  script: string;
  maxAttempts: string;
  passThreshold: string;
  blockingThreshold: string;
  deterministicOnly: boolean;
  safeFixes: boolean;
  retryFrom: "" | "previous" | "base";
  retryContext: "" | "fresh" | "continue";
  openPaths: string;
  /** A unified diff with tests that no agent sees. */
  heldOut: string;
  heldOutShare: string;
  heldOutFeedback: "" | "none" | "messages";
}

export const EMPTY_FIELDS: StartFields = {
  ...NO_SOURCE,
  sourceKind: "local",
  goal: "",
  name: "",
  phases: PHASES,
  backend: "auto",
  model: "",
  temperature: "",
  systemPrompt: "",
  candidates: "1",
  named: [],
  script: "",
  maxAttempts: "",
  passThreshold: "",
  blockingThreshold: "",
  deterministicOnly: false,
  safeFixes: false,
  retryFrom: "",
  retryContext: "",
  maxTokens: "",
  maxCost: "",
  openPaths: "",
  heldOut: "",
  heldOutShare: "",
  heldOutFeedback: "",
};

/** Whether some of the fields are not as in an empty form. */
export function differs(fields: StartFields, names: readonly (keyof StartFields)[]): boolean {
  return names.some((each) => fields[each] !== EMPTY_FIELDS[each]);
}

/** The request's body. Values are not checked here: the service does, and says what is wrong with which field. */
export function requestOf(fields: StartFields): SprintCreate {
  return compact({
    goal: fields.goal,
    name: fields.name.trim() || undefined,
    source: sourceOf(fields),
    phases:
      fields.phases.length === PHASES.length
        ? undefined
        : PHASES.filter((phase) => fields.phases.includes(phase)),
    agent: agentOf(fields),
    policy: policyOf(fields),
    held_out: heldOutOf(fields),
  }) as unknown as SprintCreate;
}

function heldOutOf(fields: StartFields): object | undefined {
  const heldOut = compact({
    patch: fields.heldOut.trim() ? fields.heldOut : undefined,
    share: numberOf(fields.heldOutShare),
  });
  return Object.keys(heldOut).length > 0 ? heldOut : undefined;
}

function agentOf(fields: StartFields): object | undefined {
  const common = {
    temperature: numberOf(fields.temperature),
    system_prompt: fields.systemPrompt.trim() ? fields.systemPrompt : undefined,
  };
  if (fields.named.length > 0)
    return compact({
      ...common,
      candidates: fields.named.map(({ agent, model }) =>
        compact({ agent, model: model.trim() || undefined }),
      ),
    });
  const agent = compact({
    ...common,
    backend: fields.backend === "auto" ? undefined : fields.backend,
    model: fields.backend === "scripted" ? undefined : fields.model.trim() || undefined,
    candidates: fields.candidates.trim() === "1" ? undefined : numberOf(fields.candidates),
    script: fields.backend === "scripted" ? scriptOf(fields.script) : undefined,
  });
  return Object.keys(agent).length > 0 ? agent : undefined;
}

function policyOf(fields: StartFields): object | undefined {
  const open = openPathsOf(fields);
  const policy = compact({
    attempts_per_phase: numberOf(fields.maxAttempts),
    pass_threshold: numberOf(fields.passThreshold),
    blocking_threshold: numberOf(fields.blockingThreshold),
    deterministic_only: fields.deterministicOnly || undefined,
    safe_fixes: fields.safeFixes || undefined,
    retry_from: fields.retryFrom || undefined,
    retry_context: fields.retryContext || undefined,
    budget: budgetOf(fields),
    open_paths: open.length > 0 ? open : undefined,
    held_out_feedback: fields.heldOutFeedback || undefined,
  });
  return Object.keys(policy).length > 0 ? policy : undefined;
}

function openPathsOf(fields: StartFields): readonly string[] {
  return fields.openPaths
    .split("\n")
    .map((each) => each.trim())
    .filter(Boolean);
}

/** The same sprint from the command line; null for what the command line offers no words for. */
export function commandOf(fields: StartFields, origin: string): string | null {
  const beyond = [
    fields.temperature,
    fields.systemPrompt,
    fields.passThreshold,
    fields.blockingThreshold,
    fields.retryFrom,
    // The command line reads them from a file.
    fields.heldOut,
  ];
  const isBeyond = beyond.some((each) => each.trim()) || fields.safeFixes || isReference(fields.goal);
  const repo = repoOptions(fields);
  const isScript = fields.backend === "scripted" && fields.named.length === 0;
  if (repo === null || isScript || isBeyond) return null;
  const isWhole = fields.phases.length === PHASES.length;
  const options: readonly (readonly [string, string])[] = [
    ...repo,
    ["--name", fields.name],
    ["--phases", isWhole ? "" : PHASES.filter((each) => fields.phases.includes(each)).join(",")],
    ...workerOptions(fields),
    ["--retry-context", fields.retryContext],
    ["--max-attempts", fields.maxAttempts],
    ["--max-tokens", fields.maxTokens],
    ["--max-cost", fields.maxCost],
    ["--held-out-share", fields.heldOutShare],
    ["--held-out-feedback", fields.heldOutFeedback],
  ];
  const given = options.filter(([, value]) => value.trim()).map(([name, value]) => `${name}=${value.trim()}`);
  const switches = fields.deterministicOnly ? ["--deterministic-only"] : [];
  const open = openPathsOf(fields).map((path) => `--open=${path}`);
  const words = [...given, ...switches, ...open];
  // A goal that begins with a dash would be taken for an option.
  return command(
    origin,
    fields.goal.startsWith("-") ? ["run", ...words, "--", fields.goal] : ["run", fields.goal, ...words],
  );
}

function workerOptions(fields: StartFields): readonly (readonly [string, string])[] {
  if (fields.named.length > 0)
    return fields.named.map(({ agent, model }) => [
      "--candidate",
      model.trim() ? `${agent}:${model.trim()}` : agent,
    ]);
  return [
    ["--agent", fields.backend === "auto" ? "" : fields.backend],
    ["--model", fields.model],
    ["--candidates", fields.candidates.trim() === "1" ? "" : fields.candidates],
  ];
}
