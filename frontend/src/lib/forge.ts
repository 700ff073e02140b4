/** What a forge says about a run's pull request. Pure. */
import type { Schemas } from "./api/client";

type Pull = Pick<Schemas["ForgeView"], "pull_url" | "outcome" | "ended_as" | "edited_share">;

/** The pull request's address; null for one that a browser must not follow, such as `javascript:`. */
export function pullUrl({ pull_url: url }: Pull): string | null {
  if (url === null || !URL.canParse(url)) return null;
  return /^https?:$/.test(new URL(url).protocol) ? url : null;
}

/** What became of a pull request, such as `merged, 12 % of the lines edited after this run`. */
export function stateOfPull(pull: Pull): string {
  const later = sequelOf(pull);
  return later ? `${endOfPull(pull)}, ${later}` : endOfPull(pull);
}

/** How a pull request ended, in a word or two: what the person did who ended it. */
export function endOfPull({ outcome, ended_as: endedAs }: Pull): string {
  if (endedAs === "merged_unchanged") return "merged unchanged";
  return outcome ?? "open";
}

/** What others did beside the end: edits of the result, or a later revert. Empty for neither. */
export function sequelOf({ ended_as: endedAs, edited_share: share }: Pull): string {
  if (endedAs === "reverted") return "later reverted";
  return endedAs === "merged_edited" ? `${shareOfLines(share ?? 0)} of the lines edited after this run` : "";
}

/** A share that is not zero is never shown as zero. */
function shareOfLines(share: number): string {
  return share > 0 && share < 0.005 ? "less than 1 %" : `${Math.round(share * 100)} %`;
}

type Review = Pick<Schemas["ReviewView"], "state" | "reason" | "rounds">;

type Push = NonNullable<Schemas["ReviewView"]["push"]>;

const PUSHES: Record<Push["status"], string> = {
  passed: "passed the gates",
  failed: "failed the gates",
  errored: "has no verdict",
  asks: "asks a person",
  conflicts: "is not judged",
};

/** What the gates say of a commit that other people pushed: `a1b2c3 failed the gates: Failed: pytest`. */
export function pushInWords({ commit, status, reason }: Push): string {
  const said = `${commit.slice(0, 12)} ${PUSHES[status]}`;
  return status === "passed" ? said : `${said}: ${reason}`;
}

/** Where a review stands: `working, round 2 of 3`. */
export function reviewInWords({ state, reason, rounds }: Review): string {
  if (state === "ended" || state === "approved") return reason;
  const before =
    rounds === 0 || state === "working" ? "" : ` after ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
  return reason ? `${state}${before}: ${reason}` : `${state}${before}`;
}
