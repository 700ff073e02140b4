/** Whether what a reviewer wrote stands in a prompt. Pure. */
import { placeText } from "@/lib/diff/comments";
import type { Escalation } from "@/lib/queries/escalations";

export interface Reached {
  /** What was looked for and not found, in words. */
  readonly missing: readonly string[];
}

/** Prompts indent and quote; words in their order are what counts. */
const words = (text: string) =>
  text
    .split(/[\s>|]+/)
    .filter(Boolean)
    .join(" ");

export function reached(prompt: string, said: Pick<Escalation, "guidance" | "line_comments">): Reached {
  const told = words(prompt);
  const missing = said.line_comments
    .filter((each) => !told.includes(words(each.body)))
    .map((each) => `the comment on ${placeText(each)}`);
  if (said.guidance && !told.includes(words(said.guidance))) missing.unshift("the guidance");
  return { missing };
}
