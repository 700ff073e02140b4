import type { Finding } from "@/lib/diff/findings";

/** What a reviewer can do with the comments on the lines of a diff. */
export interface CommentActions {
  add: (path: string, line: number) => void;
  write: (path: string, line: number, body: string) => void;
  remove: (path: string, line: number) => void;
  /** Take an evaluator's finding into the guidance. */
  copy: (finding: Finding) => void;
}
