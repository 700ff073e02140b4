/** What a forge says about a run's pull request. Pure. */
import type { Schemas } from "./api/client";

type Pull = Pick<Schemas["ForgeView"], "pull_url" | "outcome">;

/** The pull request's address; null for one that a browser must not follow, such as `javascript:`. */
export function pullUrl({ pull_url: url }: Pull): string | null {
  if (url === null || !URL.canParse(url)) return null;
  return /^https?:$/.test(new URL(url).protocol) ? url : null;
}

export function stateOfPull({ outcome }: Pull): "open" | "merged" | "closed" {
  return outcome ?? "open";
}

type Review = Pick<Schemas["ReviewView"], "state" | "reason" | "rounds">;

/** Where a review stands: `working, round 2 of 3`. */
export function reviewInWords({ state, reason, rounds }: Review): string {
  if (state === "ended" || state === "approved") return reason;
  const before =
    rounds === 0 || state === "working" ? "" : ` after ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
  return reason ? `${state}${before}: ${reason}` : `${state}${before}`;
}
