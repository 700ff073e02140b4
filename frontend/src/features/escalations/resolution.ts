/** A reviewer's answer while it is typed, and the same answer as a request, as curl and as a command. Pure. */
import type { Schemas } from "@/lib/api/client";
import { command, curl, isReference } from "@/lib/commands";
import { type LineComment, placeText, written } from "@/lib/diff/comments";

export type Decision = Schemas["EscalationDecision"];
export type Resolution = Schemas["EscalationResolve"];

export interface Draft {
  readonly decision: Decision | null;
  readonly guidance: string;
  readonly attempts: number;
  /** As typed: one glob a line. */
  readonly openPaths: string;
  readonly comments: readonly LineComment[];
  /** Whether the red tests in question become known failures of the repository. */
  readonly knownFailures: boolean;
}

export const EMPTY: Draft = {
  decision: null,
  guidance: "",
  attempts: 1,
  openPaths: "",
  comments: [],
  knownFailures: false,
};
export const MOST_ATTEMPTS = 20;

export function isEmpty(draft: Draft): boolean {
  return (
    draft.guidance.trim() === "" &&
    draft.openPaths.trim() === "" &&
    written(draft.comments).length === 0 &&
    !draft.knownFailures
  );
}

/** What is sent; `version` is the version of the escalation that the reviewer sees. */
export function resolutionOf(draft: Draft, decision: Decision, version: number): Resolution {
  return {
    decision,
    guidance: draft.guidance.trim(),
    line_comments: written(draft.comments).map(sent),
    verdict_marks: [],
    open_paths: globsOf(draft.openPaths),
    known_failures: draft.knownFailures && decision !== "reject",
    version,
    ...(decision === "retry" ? { additional_attempts: draft.attempts } : {}),
  };
}

function sent({ path, line, body, side = "new", start_line: start }: LineComment): Schemas["LineComment"] {
  return { path, line, side, body: body.trim(), ...(start ? { start_line: start } : {}) };
}

export function globsOf(text: string): string[] {
  return [...new Set(text.split("\n").map((line) => line.trim()))].filter(Boolean);
}

type Outcome = Pick<Schemas["EscalationView"], "decision" | "decided_by" | "guidance" | "line_comments">;

/** Whether the outcome is what `me` sent: the answer to it may have been lost on its way. */
export function isRecorded(draft: Draft, outcome: Outcome, me: string): boolean {
  if (me === "" || outcome.decided_by !== me || outcome.decision !== draft.decision) return false;
  const said = [draft.guidance.trim(), ...written(draft.comments).map(commentText)];
  const recorded = [outcome.guidance, ...outcome.line_comments.map(commentText)];
  return said.length === recorded.length && said.every((each, index) => each === recorded[index]);
}

const commentText = (comment: LineComment) => `${placeText(comment)}: ${comment.body.trim()}`;

/** What is missing; empty when it can be sent. */
export function missing(draft: Draft): string {
  if (draft.decision === null) return "Choose accept, retry or reject.";
  if (
    draft.decision === "retry" &&
    !(Number.isInteger(draft.attempts) && draft.attempts >= 1 && draft.attempts <= MOST_ATTEMPTS)
  ) {
    return `Further attempts: a whole number from 1 to ${MOST_ATTEMPTS}.`;
  }
  return "";
}

export function canSend(draft: Draft, canAccept: boolean): boolean {
  return missing(draft) === "" && (draft.decision !== "accept" || canAccept);
}

/** The same decision as a curl call. The token is never written out: it stands in a variable. */
export function asCurl(id: string, body: Resolution, origin: string, withToken: boolean): string {
  return curl(origin, "POST", `/api/v1/escalations/${id}/resolve`, body, withToken);
}

/** The same decision as a command; null if it would read the guidance from elsewhere. Values are joined to their options: they may begin with a dash. */
export function asCommand(id: string, body: Resolution, origin: string): string | null {
  if (isReference(body.guidance ?? "")) return null;
  const words = ["escalations", "resolve", id, `--${body.decision}`];
  if (body.guidance) words.push(`--guidance=${body.guidance}`);
  if (body.additional_attempts) words.push(`--attempts=${body.additional_attempts}`);
  for (const each of body.line_comments ?? []) {
    const lines = `${each.start_line ? `${each.start_line}-` : ""}${each.line}${each.side === "old" ? "@old" : ""}`;
    words.push(`--comment=${each.path}:${lines}:${each.body}`);
  }
  for (const each of body.open_paths ?? []) words.push(`--open=${each}`);
  if (body.known_failures) words.push("--known-failures");
  return command(origin, words);
}
