import type { Place } from "@/lib/diff/comments";
import type { Finding } from "@/lib/diff/findings";

/** What a reviewer can do with the comments on the lines of a diff. */
export interface CommentActions {
  add: (at: Place) => void;
  write: (at: Place, body: string) => void;
  /** Let a comment begin at an earlier line. */
  begin: (at: Place, start: number) => void;
  remove: (at: Place) => void;
  /** Take an evaluator's finding into the guidance. */
  copy: (finding: Finding) => void;
}
