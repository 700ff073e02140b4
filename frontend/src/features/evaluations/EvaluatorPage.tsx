/** `/evaluators/:name`: its record, and its verdicts with the marks of reviewers. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { Button } from "@/components/Button";
import { PageHeader } from "@/components/PageHeader";
import { ErrorState, LoadingState } from "@/components/states";
import { evaluatorQuery } from "@/lib/queries/metrics";
import type { VerdictsSearch } from "@/lib/search";

import { MarkQueue } from "./components/MarkQueue";
import { TrackRecord } from "./components/TrackRecord";
import { Trust } from "./components/Trust";
import { VerdictFiltersBar } from "./components/VerdictFiltersBar";
import { VerdictList } from "./components/VerdictList";

const route = getRouteApi("/evaluators/$name");

export function EvaluatorPage({ name }: { name: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const evaluator = useQuery(evaluatorQuery(name));
  const change = (part: Partial<VerdictsSearch>) =>
    void navigate({ search: (before: VerdictsSearch) => ({ ...before, ...part }) });
  const begin = useRef<HTMLButtonElement>(null);
  const wasMarking = useRef(search.marking);
  useEffect(() => {
    // After marking, the focus is where it began: what had it is gone.
    if (wasMarking.current && !search.marking && document.activeElement === document.body)
      begin.current?.focus();
    wasMarking.current = search.marking;
  }, [search.marking]);
  // While they are marked the list stays as it was, so that none is passed over.
  function mark(marking: true | undefined): void {
    void queries.invalidateQueries({ queryKey: ["evaluators"] });
    void queries.invalidateQueries({ queryKey: ["metrics"] });
    change({ marking });
  }
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
      {search.marking ? (
        <MarkQueue name={name} onEnd={() => mark(undefined)} />
      ) : (
        <>
          <TrackRecord evaluator={evaluator.data} />
          <Trust name={name} />
          <div className="flex flex-wrap items-center gap-3 pt-6 pb-2">
            <h2 className="font-semibold">Verdicts, newest first</h2>
            <Button ref={begin} onClick={() => mark(true)}>
              Mark one after the other
            </Button>
          </div>
          <VerdictFiltersBar search={search} onChange={change} />
          <VerdictList name={name} search={search} />
        </>
      )}
    </>
  );
}
