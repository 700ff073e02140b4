/** What a judgement of an answer lacks. Pure. */
import type { AnswerAttempt } from "@/lib/queries/answers";

/** Names of the dimensions that are not sufficient. */
export function lacking(attempt: AnswerAttempt): readonly string[] {
  return (attempt.evaluation?.dimensions ?? [])
    .filter((each) => each.verdict !== "SUFFICIENT")
    .map((each) => each.dimension);
}
