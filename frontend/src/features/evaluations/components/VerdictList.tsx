/** An evaluator's verdicts, newest first, page by page. */
import { useInfiniteQuery } from "@tanstack/react-query";

import { Button } from "@/components/Button";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { plural } from "@/lib/format";
import { verdictsQuery } from "@/lib/queries/metrics";
import type { VerdictsSearch } from "@/lib/search";

import { VerdictEntry } from "./VerdictEntry";

export function VerdictList({ name, search }: { name: string; search: VerdictsSearch }) {
  const verdicts = useInfiniteQuery(verdictsQuery(name, search));
  if (verdicts.isPending) return <LoadingState what="the verdicts" />;
  if (!verdicts.data)
    return (
      <ErrorState error={verdicts.error} what="load the verdicts" onRetry={() => void verdicts.refetch()} />
    );
  const items = verdicts.data.pages.flatMap((page) => page.items);
  if (items.length === 0) return <Nothing filtered={Boolean(search.status ?? search.mark)} />;
  return (
    <>
      <ol className="flex flex-col gap-3">
        {items.map((each) => (
          <li key={each.evaluation.id}>
            <VerdictEntry name={name} verdict={each} />
          </li>
        ))}
      </ol>
      <div className="flex items-center gap-3 py-3 text-muted">
        <span>{plural(items.length, "verdict")} shown</span>
        {verdicts.hasNextPage && (
          <Button onClick={() => void verdicts.fetchNextPage()} disabled={verdicts.isFetchingNextPage}>
            Show more
          </Button>
        )}
      </div>
    </>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <EmptyState title={filtered ? "No verdicts match these filters" : "No verdicts yet"}>
      <p>{filtered ? "Change the filters." : "Verdicts appear here after the first evaluation."}</p>
    </EmptyState>
  );
}
