/** What a run consumed; an unknown cost is said to be unknown. */
import type { Schemas } from "@/lib/api/client";
import { formatCost, formatCount } from "@/lib/format";

export function Cost({ usage }: { usage: Schemas["Usage"] }) {
  const tokens = usage.input_tokens + usage.output_tokens;
  const title = `${formatCount(tokens)} tokens in ${formatCount(usage.requests)} requests`;
  // A script asks no model. Its attempts have a cost of 0 and its run has none: both read the same.
  if (usage.requests === 0 && tokens === 0 && !usage.cost_usd) return <span title={title}>–</span>;
  return <span title={title}>{formatCost(usage.cost_usd)}</span>;
}
