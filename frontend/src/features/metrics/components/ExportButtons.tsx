/** Saves the figures that the page shows. */
import { Button } from "@/components/Button";
import { saveText } from "@/lib/download";
import type { Metrics, Trend } from "@/lib/queries/metrics";
import { asCsv, shareRows } from "@/lib/share-rows";

export function ExportButtons({ report, trend }: { report: Metrics; trend: Trend | undefined }) {
  const rows = () => [...shareRows(report), ...shareRows(trend ? { trend: trend.points } : {})];
  return (
    <>
      <Button onClick={() => saveText(asCsv(rows()), "metrics.csv", "text/csv")}>Save as CSV</Button>
      <Button
        onClick={() =>
          saveText(
            JSON.stringify({ report, trend: trend ?? null }, null, 2),
            "metrics.json",
            "application/json",
          )
        }
      >
        Save as JSON
      </Button>
    </>
  );
}
