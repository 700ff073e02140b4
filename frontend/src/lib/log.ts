/** Turns a run's events into the lines of its log. */
import type { RunEvent } from "./stream/frames";
import { plainText } from "./text/ansi";

export type LineKind = "text" | "call" | "result" | "note";

export interface LogLine {
  /** `sequence.index`: the same for everyone and for ever, so that a URL can name it. */
  readonly id: string;
  readonly kind: LineKind;
  readonly text: string;
  readonly time: string;
  readonly phase: string | null;
  readonly attempt: number | null;
  readonly candidate: number;
  /** It begins a section that can be folded. */
  readonly opens?: "attempt" | "tool";
}

/** The lines of one event. */
export function linesOf(event: RunEvent): readonly LogLine[] {
  const line = (
    kind: LineKind,
    text: string,
    index: number,
    candidate = 0,
    time = event.timestamp,
  ): LogLine => ({
    id: `${event.sequence}.${index}`,
    kind,
    text,
    time: time ?? "",
    phase: event.phase ?? null,
    attempt: event.attempt ?? null,
    candidate,
  });
  switch (event.event) {
    case "agent.progress":
      return event.data.lines.map((each, index) =>
        line("text", each.text, index, event.data.candidate ?? 0, each.at),
      );
    case "tool.called":
    case "tool.result": {
      const { tool, text, candidate } = event.data;
      const kind = event.event === "tool.called" ? "call" : "result";
      const told = kind === "call" && !text.startsWith(tool) ? `${tool} ${text}` : text;
      const lines = told.split("\n").map((each, index) => line(kind, each, index, candidate ?? 0));
      return kind === "call" ? opening("tool", lines) : lines;
    }
    default: {
      const note = noteOf(event);
      const lines = note ? note.split("\n").map((each, index) => line("note", each, index)) : [];
      return event.event === "attempt.started" ? opening("attempt", lines) : lines;
    }
  }
}

function opening(opens: "attempt" | "tool", lines: readonly LogLine[]): readonly LogLine[] {
  return lines.map((each, index) => (index === 0 ? { ...each, opens } : each));
}

// Loops and answers have one phase, named like their kind.
const isOfSprint = (phase: string | null | undefined) => phase !== "loop" && phase !== "answer";
const placeOf = (phase: string | null | undefined) => (isOfSprint(phase) ? `Phase ${phase}` : `The ${phase}`);
const tryOf = (phase: string | null | undefined) => (phase === "loop" ? "Iteration" : "Attempt");

const againOf = (data: { resumed?: boolean; taken_over?: boolean }) =>
  data.taken_over ? ", taken over" : data.resumed ? ", again" : "";

const subtaskEnd = (success: boolean | null) =>
  success === null ? "gave no result" : success ? "is done" : "ended without success";

type Notes = { [E in RunEvent as E["event"]]?: (event: E) => string };

const NOTES: Notes = {
  "run.created": ({ data }) => `Run created: ${data.name}`,
  "run.cancelled": ({ data }) => `Cancelled by ${data.by}${data.reason ? `: ${data.reason}` : ""}`,
  "workflow.completed": ({ data }) => `Run completed${data.reason ? `: ${data.reason}` : ""}`,
  "workflow.failed": ({ data }) => `Run failed: ${data.reason}`,
  "phase.started": ({ phase }) => placeOf(phase),
  "phase.completed": ({ phase, data }) =>
    `${placeOf(phase)} completed${data.accepted_by ? `, accepted by ${data.accepted_by}` : ""}`,
  "phase.failed": ({ phase, data }) => `${placeOf(phase)} failed: ${data.reason}`,
  "attempt.started": ({ phase, attempt, data }) =>
    `${tryOf(phase)} ${attempt}${isOfSprint(phase) ? ` of ${phase}` : " begins"}${againOf(data)}`,
  "attempt.interrupted": ({ data }) => `Interrupted: ${data.reason}`,
  "agent.failed": ({ data }) => `The agent failed: ${data.message}`,
  "baseline.completed": ({ data }) => data.message,
  "agent.message": ({ data }) =>
    `Message from ${data.by} ${data.status}${data.reason ? ` (${data.reason})` : ""}: ${data.text}`,
  "held_out.checked": ({ data }) => data.message,
  "evaluator.completed": ({ data }) =>
    `${data.evaluator_name}: ${data.status ?? (data.passed ? "passed" : "failed")}`,
  "evaluation.completed": ({ phase, attempt, data }) =>
    `${tryOf(phase)} ${attempt} ${data.overall_passed ? "passed" : "failed"}${data.reason ? `: ${data.reason}` : ""}`,
  "evaluation.failed": ({ data }) => `No verdict: ${data.reason}`,
  "iteration.directed": ({ data }) =>
    `The director ${data.status === "WAITING" ? "asks for a person" : "proposes"}`,
  "iteration.scripted": ({ data }) => `The script ended with ${data.exit_code}`,
  "iteration.failed": ({ data }) => `Iteration ${data.iteration} failed: ${data.message}`,
  "subtask.started": ({ data }) => `The director asks for a subtask: ${data.description}`,
  "subtask.completed": ({ data }) => `The subtask ${subtaskEnd(data.success)}: ${data.output}`,
  "escalation.required": ({ data }) => `Needs a person: ${data.reason}`,
  "escalation.resolved": ({ data }) => `${data.decided_by} decided: ${data.decision}`,
};

function noteOf(event: RunEvent): string {
  const note = NOTES[event.event] as ((event: RunEvent) => string) | undefined;
  return note?.(event) ?? "";
}

const made = new WeakMap<RunEvent, readonly LogLine[]>();

/** The lines of events, in order; each event is turned into lines once, for as long as it is in memory. */
export function logOf(events: readonly RunEvent[]): readonly LogLine[] {
  return events.flatMap(onceOf);
}

/** How many lines an event has. */
export const countOf = (event: RunEvent): number => onceOf(event).length;

/** What an event takes of memory, in lines of usual length. */
export const weightOf = (event: RunEvent): number =>
  onceOf(event).reduce((sum, line) => sum + 1 + line.text.length / USUAL_LENGTH, 0);

const USUAL_LENGTH = 200;

function onceOf(event: RunEvent): readonly LogLine[] {
  const known = made.get(event);
  if (known) return known;
  const lines = linesOf(event);
  made.set(event, lines);
  return lines;
}

/** The event that a line belongs to, by the line's id. */
export const sequenceOf = (id: string): number => Number(id.split(".")[0]);

/** The ids of the lines that hold `words`, in any case. */
export function findLines(lines: readonly LogLine[], words: string): readonly string[] {
  const wanted = words.toLowerCase();
  if (!wanted) return [];
  return lines.filter((line) => plainText(line.text).toLowerCase().includes(wanted)).map((line) => line.id);
}
