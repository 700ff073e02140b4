/** What can go wrong with a request, as types that pages tell apart. */
import type { components } from "@/api/schema";

/** RFC 9457 problem details; a conflict may have further members, such as who decided and when. */
export type Problem = Omit<components["schemas"]["Problem"], "errors"> & {
  errors: components["schemas"]["FieldError"][];
} & Record<string, unknown>;

/** The service refused. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(readonly problem: Problem) {
    super(problem.detail);
  }

  get status(): number {
    return this.problem.status;
  }

  /** What the service says about one field, such as `source.path`; empty when it says nothing. */
  messageFor(field: string): string {
    return this.problem.errors.find((each) => each.field === field)?.message ?? "";
  }
}

/** There was no answer. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(cause: unknown) {
    super("The service cannot be reached", { cause });
  }
}

/** Whether asking again may help by itself: not after a refusal. */
export function isPassing(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);
}
