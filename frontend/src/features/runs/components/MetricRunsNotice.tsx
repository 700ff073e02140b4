/** Says whose runs are listed when a number of the metrics led here. */
import { Link } from "@tanstack/react-router";

import { Button } from "@/components/Button";
import type { RunsSearch } from "@/lib/search";

interface Props {
  search: RunsSearch;
  onClear: () => void;
}

export function MetricRunsNotice({ search, onClear }: Props) {
  const parts = [
    search.metric?.replaceAll("_", " "),
    search.metric_key?.replaceAll("_", " "),
    search.metric_phase && `in ${search.metric_phase}`,
  ];
  const what =
    search.metric_part === "considered"
      ? "All runs considered for this figure"
      : "Runs counted in this figure";
  return (
    <p className="mb-3 flex flex-wrap items-center gap-2 rounded-md bg-highlight px-3 py-1">
      <span>
        {what}: <strong>{parts.filter(Boolean).join(", ")}</strong>
      </span>
      <Link to="/metrics">Metrics</Link>
      <Button weight="quiet" className="ml-auto" onClick={onClear}>
        Show all runs
      </Button>
    </p>
  );
}
