/** `/evaluators/:name`: its record, and its verdicts with the marks of reviewers. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { PageHeader } from "@/components/PageHeader";
import { ErrorState, LoadingState } from "@/components/states";
import { evaluatorQuery } from "@/lib/queries/metrics";
import type { VerdictsSearch } from "@/lib/search";

import { TrackRecord } from "./components/TrackRecord";
import { VerdictFiltersBar } from "./components/VerdictFiltersBar";
import { VerdictList } from "./components/VerdictList";

const route = getRouteApi("/evaluators/$name");

export function EvaluatorPage({ name }: { name: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const evaluator = useQuery(evaluatorQuery(name));
  if (!evaluator.data) {
    return (
      <>
        <PageHeader title={name} />
        {evaluator.error ? (
          <ErrorState
            error={evaluator.error}
            what="load the evaluator"
            onRetry={() => void evaluator.refetch()}
          />
        ) : (
          <LoadingState what="the evaluator" />
        )}
      </>
    );
  }
  const { registered } = evaluator.data;
  return (
    <>
      <PageHeader
        title={name}
        beside={
          <span className="text-muted">
            {registered
              ? `${registered.gate ? "gate" : "adviser"}, version ${registered.version}, ${registered.source}`
              : "not registered, known from past verdicts"}
          </span>
        }
      />
      <TrackRecord evaluator={evaluator.data} />
      <h2 className="pt-6 pb-2 font-semibold">Verdicts, newest first</h2>
      <VerdictFiltersBar
        search={search}
        onChange={(part) => void navigate({ search: (before: VerdictsSearch) => ({ ...before, ...part }) })}
      />
      <VerdictList name={name} search={search} />
    </>
  );
}
