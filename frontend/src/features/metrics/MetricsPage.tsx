/** `/metrics`: whether the gates can be trusted, how often people are asked, and what it costs. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ChartNoAxesColumn } from "lucide-react";
import { useMemo } from "react";

import { buttonClass } from "@/components/Button";
import { MetricTile } from "@/components/MetricTile";
import { PageHeader } from "@/components/PageHeader";
import { EmptyState, ErrorState, explain, LoadingState } from "@/components/states";
import { TrendChart } from "@/components/TrendChart";
import { plural } from "@/lib/format";
import {
  type MetricScope,
  type Metrics,
  type MetricShare,
  metricsQuery,
  type Trend,
  trendQuery,
} from "@/lib/queries/metrics";
import { rollingShares } from "@/lib/rolling";
import type { MetricsSearch } from "@/lib/search";

import { ConversationTable } from "./components/ConversationTable";
import { EscalationFigures } from "./components/EscalationFigures";
import { EvaluatorTable } from "./components/EvaluatorTable";
import { ExportButtons } from "./components/ExportButtons";
import { ObservedTable } from "./components/ObservedTable";
import { OutcomeTable } from "./components/OutcomeTable";
import { PhaseTable } from "./components/PhaseTable";
import { ScopeBar } from "./components/ScopeBar";
import { Spending } from "./components/Spending";
import { TrustTable } from "./components/TrustTable";

const route = getRouteApi("/metrics");
const DAY = 86_400_000;
/** Steps of the trend that a rolling point takes in. */
const WINDOW = 4;

export function MetricsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const scope = useMemo(() => scopeOf(search), [search]);
  const report = useQuery({ ...metricsQuery(scope), placeholderData: keepPreviousData });
  const trend = useQuery({
    ...trendQuery(scope, search.days === 7 ? "day" : "week"),
    placeholderData: keepPreviousData,
  });

  function change(part: Partial<MetricsSearch>): void {
    void navigate({ search: (before: MetricsSearch) => ({ ...before, ...part }) });
  }

  return (
    <>
      <PageHeader
        title="Metrics"
        beside={report.data && <span className="text-muted">{plural(report.data.runs, "run")}</span>}
        actions={
          report.data &&
          !report.isPlaceholderData && <ExportButtons report={report.data} trend={trend.data} />
        }
      />
      <ScopeBar search={search} onChange={change} />
      {report.isPending && <LoadingState what="the metrics" />}
      {/* The figures below are those of the choice before. */}
      {report.isPlaceholderData && <LoadingState what="the figures of this choice" />}
      {trend.error && !trend.data && (
        <p role="alert" className="theirs pb-3 text-failed">
          {explain(trend.error, "load the trend").text}
        </p>
      )}
      {report.error && !report.data && (
        <ErrorState error={report.error} what="load the metrics" onRetry={() => void report.refetch()} />
      )}
      {report.data && (
        <Figures
          report={report.data}
          trend={trend.data}
          scope={scope}
          filtered={Object.keys(scope).length > 0}
          rolling={search.rolling === true}
        />
      )}
    </>
  );
}

/** From midnight, so that the same days are the same question. */
function scopeOf({ days, from, to, kind, project, agent }: MetricsSearch): MetricScope {
  const midnight = new Date().setUTCHours(0, 0, 0, 0);
  return {
    ...(days && !from && !to ? { since: new Date(midnight - days * DAY).toISOString() } : {}),
    ...(from ? { since: new Date(from).toISOString() } : {}),
    // The last day counts whole.
    ...(to ? { until: new Date(Date.parse(to) + DAY).toISOString() } : {}),
    ...(kind ? { kind: [kind] } : {}),
    ...(project ? { project: [project] } : {}),
    ...(agent ? { agent: [agent] } : {}),
  };
}

function Figures({
  report,
  trend,
  scope,
  filtered,
  rolling,
}: {
  report: Metrics;
  trend: Trend | undefined;
  scope: MetricScope;
  filtered: boolean;
  rolling: boolean;
}) {
  const points = trend?.points ?? [];
  const shares = (of: (point: Trend["points"][number]) => MetricShare) =>
    rolling ? rollingShares(points.map(of), WINDOW) : points.map(of);
  if (report.runs === 0) {
    return (
      <EmptyState
        icon={ChartNoAxesColumn}
        title={filtered ? "No runs match these filters" : "No metrics yet"}
      >
        {filtered ? (
          <p>Choose a longer period, or all projects and agents.</p>
        ) : (
          <p>Figures appear after the first evaluation.</p>
        )}
        {!filtered && (
          <Link to="/new" className={buttonClass("primary")}>
            New sprint
          </Link>
        )}
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-6 pb-8">
      <section aria-labelledby="passing" className="flex flex-col gap-3">
        <h2 id="passing" className="font-semibold">
          Passed without a person
        </h2>
        <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
          <MetricTile
            title="pass@1"
            what="Every phase passed on the first attempt"
            share={report.passes.pass_at_1}
          />
          <MetricTile title="pass@2" what="Within two attempts" share={report.passes.pass_at_2} />
          <MetricTile title="pass@3" what="Within three attempts" share={report.passes.pass_at_3} />
          <MetricTile title="Escalated" what="The run needed a person" share={report.escalations.rate} />
        </div>
        {trend && trend.points.length > 0 && (
          <TrendChart
            title={`${trend.bucket === "day" ? "By day" : "By week"}${rolling ? `, with the ${WINDOW - 1} before` : ""}`}
            starts={trend.points.map((each) => each.start)}
            lines={[
              { name: "pass@1", look: "dashed", shares: shares((each) => each.pass_at_1) },
              { name: "pass@3", look: "solid", shares: shares((each) => each.pass_at_3) },
              { name: "escalated", look: "dotted", shares: shares((each) => each.escalated) },
            ]}
          />
        )}
      </section>
      <TrustTable evaluators={report.evaluators} />
      <OutcomeTable outcomes={report.outcomes} />
      <ObservedTable scope={scope} />
      <PhaseTable report={report} />
      <ConversationTable conversations={report.conversations} />
      <EscalationFigures figures={report.escalations} />
      <EvaluatorTable evaluators={report.evaluators} />
      <Spending spend={report.spend} />
    </div>
  );
}
