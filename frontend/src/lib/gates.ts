/** The part that an evaluator plays for a verdict. Pure. */

interface Role {
  readonly gate: boolean;
  readonly observed?: boolean;
}

/** The part, as the page names it. An observed gate blocks nothing, so its `gate` is false. */
export function partOf(each: Role): "gate" | "observed gate" | "adviser" {
  if (each.observed) return "observed gate";
  return each.gate ? "gate" : "adviser";
}
