/** A share in a table's cell that leads to no runs: its cases are elsewhere. */
import type { Share } from "@/lib/queries/metrics";
import { formatCases, formatInterval, formatShare } from "@/lib/shares";

export function PlainShareCell({ share }: { share: Share | undefined }) {
  if (!share || share.value === null) return <td className="number text-muted">no data</td>;
  return (
    <td className="number whitespace-nowrap">
      {formatShare(share.value)} <span className="text-muted">{formatCases(share)}</span>
      <span className="block text-xs text-muted">{formatInterval(share)}</span>
    </td>
  );
}
