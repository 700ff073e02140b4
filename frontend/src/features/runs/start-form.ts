/** The start form's fields, and what they mean as a request and as a command line. Pure. */
import { command } from "@/lib/commands";
import type { Phase, SprintCreate } from "@/lib/queries/runs";

export const PHASES: readonly Phase[] = ["discovery", "coding", "verification"];

export interface StartFields {
  goal: string;
  name: string;
  sourceKind: "local" | "git" | "empty" | "archive";
  path: string;
  url: string;
  ref: string;
  archive: { name: string; base64: string } | null;
  stripTopLevel: boolean;
  phases: readonly Phase[];
  /** `auto`, or the name of an agent. */
  backend: string;
  model: string;
  temperature: string;
  systemPrompt: string;
  candidates: string;
  script: string;
  maxAttempts: string;
  passThreshold: string;
  blockingThreshold: string;
  deterministicOnly: boolean;
  safeFixes: boolean;
  retryFrom: "" | "previous" | "base";
  maxTokens: string;
  maxCost: string;
  openPaths: string;
  /** A unified diff with tests that no agent sees. */
  heldOut: string;
  heldOutFeedback: "" | "none" | "messages";
}

export const EMPTY_FIELDS: StartFields = {
  goal: "",
  name: "",
  sourceKind: "local",
  path: "",
  url: "",
  ref: "",
  archive: null,
  stripTopLevel: false,
  phases: PHASES,
  backend: "auto",
  model: "",
  temperature: "",
  systemPrompt: "",
  candidates: "1",
  script: "",
  maxAttempts: "",
  passThreshold: "",
  blockingThreshold: "",
  deterministicOnly: false,
  safeFixes: false,
  retryFrom: "",
  maxTokens: "",
  maxCost: "",
  openPaths: "",
  heldOut: "",
  heldOutFeedback: "",
};

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
    held_out: fields.heldOut.trim() ? { patch: fields.heldOut } : undefined,
  }) as unknown as SprintCreate;
}

function sourceOf(fields: StartFields): object {
  const ref = fields.ref.trim() || undefined;
  switch (fields.sourceKind) {
    case "local":
      return compact({ kind: "local", path: fields.path.trim(), ref });
    case "git":
      return compact({ kind: "git", url: fields.url.trim(), ref });
    case "archive":
      return compact({
        kind: "archive",
        data: fields.archive?.base64,
        strip_top_level: fields.stripTopLevel || undefined,
      });
    case "empty":
      return { kind: "empty" };
  }
}

function agentOf(fields: StartFields): object | undefined {
  const agent = compact({
    backend: fields.backend === "auto" ? undefined : fields.backend,
    model: fields.model.trim() || undefined,
    temperature: numberOf(fields.temperature),
    system_prompt: fields.systemPrompt.trim() ? fields.systemPrompt : undefined,
    candidates: fields.candidates.trim() === "1" ? undefined : numberOf(fields.candidates),
    script: fields.backend === "scripted" ? scriptOf(fields.script) : undefined,
  });
  return Object.keys(agent).length > 0 ? agent : undefined;
}

function policyOf(fields: StartFields): object | undefined {
  const budget = compact({ tokens: numberOf(fields.maxTokens), cost_usd: numberOf(fields.maxCost) });
  const open = openPathsOf(fields);
  const policy = compact({
    attempts_per_phase: numberOf(fields.maxAttempts),
    pass_threshold: numberOf(fields.passThreshold),
    blocking_threshold: numberOf(fields.blockingThreshold),
    deterministic_only: fields.deterministicOnly || undefined,
    safe_fixes: fields.safeFixes || undefined,
    retry_from: fields.retryFrom || undefined,
    budget: Object.keys(budget).length > 0 ? budget : undefined,
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

/** What was typed, as a number where it is one; else as it is, for the service to refuse by name. */
function numberOf(typed: string): number | string | undefined {
  const text = typed.trim();
  if (!text) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

function scriptOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function compact(members: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
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
  const isBeyond = beyond.some((each) => each.trim()) || fields.safeFixes;
  if (fields.sourceKind === "archive" || fields.backend === "scripted" || isBeyond) return null;
  const isWhole = fields.phases.length === PHASES.length;
  const options: readonly (readonly [string, string])[] = [
    ["--repo", { local: fields.path, git: fields.url, empty: "" }[fields.sourceKind]],
    ["--ref", fields.sourceKind === "empty" ? "" : fields.ref],
    ["--name", fields.name],
    ["--phases", isWhole ? "" : PHASES.filter((each) => fields.phases.includes(each)).join(",")],
    ["--agent", fields.backend === "auto" ? "" : fields.backend],
    ["--model", fields.model],
    ["--candidates", fields.candidates.trim() === "1" ? "" : fields.candidates],
    ["--max-attempts", fields.maxAttempts],
    ["--max-tokens", fields.maxTokens],
    ["--max-cost", fields.maxCost],
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
