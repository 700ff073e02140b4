/** `/`: every run, filtered by what the URL says, kept up to date by events. */
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Rocket, SearchX } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";

import { Button, buttonClass } from "@/components/Button";
import { PageHeader } from "@/components/PageHeader";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { plural } from "@/lib/format";
import { useNear } from "@/lib/near";
import { runCountsQuery, type RunFilters, runsQuery, type Run } from "@/lib/queries/runs";
import type { RunsSearch } from "@/lib/search";

import { type Column, columnsOf } from "./columns";
import { MetricRunsNotice } from "./components/MetricRunsNotice";
import { RunFiltersBar } from "./components/RunFiltersBar";
import { RunsTable } from "./components/RunsTable";

const route = getRouteApi("/");

export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { sort: _sort, ...filters } = asked(search);
  const shown = useMemo(() => columnsOf(search.columns), [search.columns]);
  const runs = useInfiniteQuery({ ...runsQuery(asked(search)), placeholderData: keepPreviousData });
  // Beside each status stands how many there are whatever status is chosen, and likewise for kinds.
  const statuses = useQuery({
    ...runCountsQuery({ ...filters, status: undefined, paused: undefined }),
    placeholderData: keepPreviousData,
  });
  const kinds = useQuery({
    ...runCountsQuery({ ...filters, kind: undefined }),
    placeholderData: keepPreviousData,
  });
  const waiting = useQuery(runCountsQuery({}));
  const items = useMemo(() => runs.data?.pages.flatMap((page) => page.items) ?? [], [runs.data]);
  const needing = waiting.data?.needs_human ?? 0;

  function change(part: Partial<RunsSearch>): void {
    void navigate({ search: (before: RunsSearch) => ({ ...before, ...part }), replace: "q" in part });
  }

  return (
    <>
      <PageHeader
        title="Runs"
        beside={
          needing > 0 && (
            <Link
              to="/escalations"
              className="rounded-full bg-waiting-chip px-3 py-0.5 font-medium text-waiting underline"
            >
              {needing === 1 ? "1 run needs a person" : `${needing} runs need a person`}
            </Link>
          )
        }
      />
      <RunFiltersBar search={search} counts={statuses.data} byKind={kinds.data?.by_kind} onChange={change} />
      {search.metric && <MetricRunsNotice search={search} onClear={() => void navigate({ search: {} })} />}
      <Content
        filters={filters}
        query={runs}
        items={items}
        shown={shown}
        onClear={() => void navigate({ search: {} })}
      />
    </>
  );
}

/** A paused run has the status it continues with; in the list it is paused. */
function asked({ columns: _columns, ...search }: RunsSearch): RunFilters & Pick<RunsSearch, "sort"> {
  return search.status?.length ? { ...search, paused: false } : search;
}

interface ContentProps {
  filters: RunFilters;
  items: readonly Run[];
  shown: ReadonlySet<Column>;
  query: {
    isPending: boolean;
    error: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    refetch: () => unknown;
    fetchNextPage: () => unknown;
  };
  onClear: () => void;
}

function Content({ filters, items, shown, query, onClear }: ContentProps) {
  if (query.isPending) return <LoadingState what="the runs" />;
  if (query.error && items.length === 0) {
    return <ErrorState error={query.error} what="load the runs" onRetry={() => void query.refetch()} />;
  }
  if (items.length === 0) return isFiltered(filters) ? <NothingFound onClear={onClear} /> : <NothingYet />;
  return (
    <>
      <RunsTable runs={items} shown={shown} />
      <More count={items.length} {...query} />
    </>
  );
}

/** Closer than this to the last run, in pixels, further ones are loaded. */
const NEAR_END_PX = 700;

type MoreProps = Pick<
  ContentProps["query"],
  "hasNextPage" | "isFetchingNextPage" | "isFetchNextPageError" | "fetchNextPage"
> & {
  count: number;
};

function More(props: MoreProps) {
  const { count, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = props;
  const place = useRef<HTMLDivElement>(null);
  const { isNear } = useNear(place, false, NEAR_END_PX);
  // After an error the button asks again.
  const goesOn = isNear && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  return (
    <div ref={place} className="flex min-h-14 items-center gap-3 py-3 text-muted">
      <span>{plural(count, "run")} shown</span>
      {hasNextPage && (
        <Button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
          {isFetchingNextPage ? "Loading …" : "Show more"}
        </Button>
      )}
    </div>
  );
}

function isFiltered(filters: RunFilters): boolean {
  const isNothing = (each: unknown) =>
    each === undefined || each === "" || (Array.isArray(each) && !each.length);
  return !Object.values(filters).every(isNothing);
}

function NothingFound({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState icon={SearchX} title="No runs match these filters">
      <Button onClick={onClear}>Show all runs</Button>
    </EmptyState>
  );
}

function NothingYet() {
  return (
    <EmptyState icon={Rocket} title="No runs yet">
      <p>
        Start a sprint with a goal and a repository. The agent works, evaluators check each attempt, and the
        run escalates to you when it is stuck.
      </p>
      <Link to="/new" className={buttonClass("primary")}>
        New sprint
      </Link>
      <p>
        Or from a terminal: <code>phaserunner run &quot;GOAL&quot; --repo PATH</code>
      </p>
    </EmptyState>
  );
}
