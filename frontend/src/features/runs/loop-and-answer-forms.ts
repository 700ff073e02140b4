/** The start forms of loops and answers, and what they mean as requests and as command lines. Pure. */
import type { Schemas } from "@/lib/api/client";
import type { ApiError } from "@/lib/api/errors";
import { command } from "@/lib/commands";

import { type BudgetValues, budgetOf, compact, scriptOf } from "./compact";
import { inOwnWords } from "./refusals";
import { NO_SOURCE, repoOptions, sourceOf, type SourceValues } from "./source";

export interface RoleAgentValues {
  /** `provider:model`; empty for the default. */
  readonly model: string;
  /** A script in TOML or JSON; empty without one. */
  readonly script: string;
}

export interface LoopFields extends RoleAgentValues, SourceValues, BudgetValues {
  readonly definition: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly query: string;
  readonly name: string;
}

export interface AnswerFields extends RoleAgentValues, SourceValues, BudgetValues {
  readonly query: string;
  readonly entries: readonly string[];
  readonly domains: string;
  readonly rules: string;
  readonly retries: string;
  readonly name: string;
}

export const EMPTY_LOOP: LoopFields = {
  definition: "",
  inputs: {},
  query: "",
  name: "",
  model: "",
  script: "",
  ...NO_SOURCE,
  maxTokens: "",
  maxCost: "",
};
export const EMPTY_ANSWER: AnswerFields = {
  query: "",
  entries: [""],
  domains: "",
  rules: "",
  retries: "2",
  name: "",
  model: "",
  script: "",
  ...NO_SOURCE,
  maxTokens: "",
  maxCost: "",
};

/** Values are not checked here: the service does, and says what is wrong with which field. */
export function loopRequest(fields: LoopFields): Schemas["LoopCreate"] {
  const inputs = inputNames(fields.definition).flatMap((name) =>
    fields.inputs[name] ? [[name, fields.inputs[name]]] : [],
  );
  return compact({
    // XML goes as a text, which the service reads as well; what is no JSON, it refuses.
    definition: parsed(fields.definition) ?? fields.definition,
    inputs: Object.fromEntries(inputs),
    query: fields.query.trim() || undefined,
    name: fields.name.trim() || undefined,
    agent: playerOf(fields),
    source: fields.sourceKind === "empty" ? undefined : sourceOf(fields),
    budget: budgetOf(fields),
  }) as Schemas["LoopCreate"];
}

export function answerRequest(fields: AnswerFields): Schemas["AnswerCreate"] {
  return compact({
    query: fields.query,
    entries: fields.entries.filter((each) => each.trim()),
    domains: namesOf(fields.domains),
    rules: linesOf(fields.rules),
    max_retries: fields.retries === "2" ? undefined : Number(fields.retries),
    name: fields.name.trim() || undefined,
    agent: playerOf(fields),
    source: fields.sourceKind === "empty" ? undefined : sourceOf(fields),
    budget: budgetOf(fields),
  }) as Schemas["AnswerCreate"];
}

/** The same question from the command line; null for what it would read otherwise: scripts, and `@` and `-`. */
export function answerCommand(fields: AnswerFields, origin: string): string | null {
  const request = answerRequest(fields);
  const isOther = /^[-@]/.test(fields.query) || (request.entries ?? []).some((each) => each.startsWith("@"));
  const repo = repoOptions(fields);
  if (fields.script.trim() || isOther || repo === null) return null;
  const limits: typeof repo = [
    ["--max-tokens", fields.maxTokens],
    ["--max-cost", fields.maxCost],
  ];
  const words = [
    ...[...repo, ...limits].flatMap(([name, value]) => (value.trim() ? [`${name}=${value.trim()}`] : [])),
    ...(request.entries ?? []).map((each) => `--entry=${each}`),
    ...(request.domains ?? []).map((each) => `--domain=${each}`),
    ...(request.rules ?? []).map((each) => `--rule=${each}`),
  ];
  if (request.max_retries !== undefined) words.push(`--max-retries=${request.max_retries}`);
  if (request.name) words.push(`--name=${request.name}`);
  if (fields.model.trim()) words.push(`--model=${fields.model.trim()}`);
  return command(origin, ["answer", fields.query, ...words]);
}

/** The inputs that a definition declares, in XML or JSON; none as long as it cannot be read. */
export function inputNames(definition: string): readonly string[] {
  const names = definition.trimStart().startsWith("<")
    ? namesInXml(definition)
    : namesInJson(parsed(definition));
  return [...new Set(names.filter(Boolean))];
}

function namesInXml(text: string): readonly string[] {
  const root = new DOMParser().parseFromString(text, "application/xml").documentElement;
  const inputs = [...root.children].filter((each) => each.localName === "inputs");
  return inputs.flatMap((each) => Array.from(each.children, (input) => input.getAttribute("name") ?? ""));
}

function namesInJson(definition: unknown): readonly string[] {
  const inputs = (definition as { inputs?: unknown } | null)?.inputs;
  if (!Array.isArray(inputs)) return [];
  return inputs.map((each) => String((each as { name?: unknown } | null)?.name ?? ""));
}

/** All that the service says about a field and what is within it, with the line of XML where it names one. */
export function saidOf(refused: ApiError | null, field: string): string {
  const found = (refused?.problem.errors ?? []).filter(
    (each) => each.field === field || each.field.startsWith(`${field}.`),
  );
  return found
    .map((each) =>
      each.field === field
        ? inOwnWords(field, each.message)
        : `${each.field.slice(field.length + 1)}: ${each.message}`,
    )
    .join("\n");
}

function playerOf(fields: RoleAgentValues): object | undefined {
  if (fields.script.trim()) return { backend: "scripted", script: scriptOf(fields.script) };
  return fields.model.trim() ? { model: fields.model.trim() } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const linesOf = (text: string) => nonEmpty(text.split("\n"));
const namesOf = (text: string) => nonEmpty(text.split(/[\s,]+/));

function nonEmpty(texts: readonly string[]): readonly string[] | undefined {
  const found = texts.map((each) => each.trim()).filter(Boolean);
  return found.length > 0 ? found : undefined;
}
