/** `/evaluators`: who judges, and how far each can be trusted. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { ShareCell } from "@/components/MetricTile";
import { PageHeader } from "@/components/PageHeader";
import { EmptyState, ErrorState, explain, LoadingState } from "@/components/states";
import type { Schemas } from "@/lib/api/client";
import { type EvaluatorMetrics, metricsQuery } from "@/lib/queries/metrics";
import { evaluatorsQuery } from "@/lib/queries/service";
import { describeLatency } from "@/lib/shares";

interface Row {
  readonly name: string;
  readonly part: string;
  readonly phases: string;
  readonly source: string;
  readonly figures: EvaluatorMetrics | undefined;
}

export function EvaluatorsPage() {
  const registered = useQuery(evaluatorsQuery);
  const report = useQuery(metricsQuery({}));
  return (
    <>
      <PageHeader title="Evaluators" />
      {registered.isPending && <LoadingState what="the evaluators" />}
      {registered.error && !registered.data && (
        <ErrorState
          error={registered.error}
          what="load the evaluators"
          onRetry={() => void registered.refetch()}
        />
      )}
      {report.error && !report.data && (
        <p role="alert" className="theirs pb-3 text-failed">
          {explain(report.error, "load the figures").text}
        </p>
      )}
      {registered.data && (
        <Evaluators
          rows={rowsOf(registered.data.items, report.data?.evaluators ?? [])}
          // As long as nothing is known, nothing is said of how much there is.
          absent={report.data ? "no data" : report.error ? "not loaded" : "loading …"}
        />
      )}
    </>
  );
}

/** Those that are registered in their order, then those that only old or projects' verdicts know. */
function rowsOf(
  registered: readonly Schemas["EvaluatorView"][],
  measured: readonly EvaluatorMetrics[],
): readonly Row[] {
  const figures = new Map(measured.map((each) => [each.evaluator, each]));
  const known = new Set(registered.map((each) => each.name));
  return [
    ...registered.map((each) => ({
      name: each.name,
      part: `${each.gate ? "gate" : "adviser"}, ${each.deterministic ? "tool" : "model"}`,
      phases: each.phases?.join(", ") ?? "all",
      source: each.source,
      figures: figures.get(each.name),
    })),
    ...measured
      .filter((each) => !known.has(each.evaluator))
      .map((each) => ({
        name: each.evaluator,
        part: each.gate ? "gate" : "adviser",
        phases: "–",
        source: "not registered",
        figures: each,
      })),
  ];
}

function Evaluators({ rows, absent }: { rows: readonly Row[]; absent: string }) {
  if (rows.length === 0) {
    return (
      <EmptyState title="No evaluators are registered">
        <p>
          No attempt passes without a gate. To find out why, run <code>phaserunner doctor</code>.
        </p>
      </EmptyState>
    );
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="card overflow-x-auto" role="region" aria-label="Evaluators" tabIndex={0}>
      <table className="table-rows w-full border-collapse">
        <thead>
          <tr>
            <th scope="col">Evaluator</th>
            <th scope="col">Type</th>
            <th scope="col">Phases</th>
            <th scope="col">Source</th>
            <th scope="col" className="number">
              Latency p50 / p95
            </th>
            <th scope="col" className="number">
              Wrong passes, of marked
            </th>
            <th scope="col" className="number">
              Wrong fails, of marked
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <Link to="/evaluators/$name" params={{ name: row.name }} className="underline">
                  {row.name}
                </Link>
              </th>
              <td className="whitespace-nowrap">{row.part}</td>
              <td>{row.phases}</td>
              <td>{row.source}</td>
              <Measured figures={row.figures} absent={absent} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Measured({ figures, absent }: { figures: EvaluatorMetrics | undefined; absent: string }) {
  if (!figures) {
    return ["time", "passes", "fails"].map((each) => (
      <td key={each} className="number text-muted">
        {absent}
      </td>
    ));
  }
  return (
    <>
      <td className="number whitespace-nowrap">
        {describeLatency(figures.latency)} <span className="text-muted">n = {figures.latency.n}</span>
      </td>
      <ShareCell share={figures.wrong_passes} />
      <ShareCell share={figures.wrong_fails} />
    </>
  );
}
