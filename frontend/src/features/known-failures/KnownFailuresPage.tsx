/** `/known-failures`: tests that may stay red at the base, as reviewers decided, and how to take that back. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { Allowed } from "@/components/Allowed";
import { PageHeader } from "@/components/PageHeader";
import { RelativeTime } from "@/components/RelativeTime";
import { EmptyState, ErrorState, explain, LoadingState } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { keys } from "@/lib/queries/keys";
import { type KnownFailure, knownFailuresQuery, removeKnownFailure } from "@/lib/queries/known-failures";

export function KnownFailuresPage({ project }: { project: string | undefined }) {
  const found = useQuery(knownFailuresQuery(project));
  return (
    <>
      <PageHeader
        title="Known failures"
        actions={
          project && (
            <Link to="/known-failures" search={{}} className="underline">
              Show all repositories
            </Link>
          )
        }
      />
      {found.isPending && <LoadingState what="the known failures" />}
      {found.error && !found.data && (
        <ErrorState error={found.error} what="load the known failures" onRetry={() => void found.refetch()} />
      )}
      {found.data && <Projects items={found.data.items} total={found.data.total} />}
    </>
  );
}

function Projects({ items, total }: { items: readonly KnownFailure[]; total: number }) {
  if (items.length === 0) {
    return (
      <EmptyState title="No known failures">
        <p>
          When you answer a question about a test that fails at the base, you can choose not to be asked
          again. Such tests are listed here.
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      {[...new Set(items.map((each) => each.project))].map((place) => (
        <section key={place} aria-label={place} className="card mb-4 p-4">
          <h2 className="theirs mono mb-2 font-semibold">
            <UntrustedText text={place} />
          </h2>
          <ul className="flex flex-col gap-2">
            {items
              .filter((each) => each.project === place)
              .map((each) => (
                <Test key={each.test} failure={each} />
              ))}
          </ul>
        </section>
      ))}
      {total > items.length && <p className="text-muted">{total - items.length} more</p>}
    </>
  );
}

function Test({ failure }: { failure: KnownFailure }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => removeKnownFailure(failure),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.knownFailures("").slice(0, 1) }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="min-w-0 flex-1">
        <UntrustedText text={failure.test} className="theirs mono" />
        <span className="block text-muted">
          <UntrustedText text={failure.added_by} />, <RelativeTime at={failure.added_at} />
        </span>
        {remove.error && (
          <span role="alert" className="block text-failed">
            {explain(remove.error, "remove the test").text}
          </span>
        )}
      </span>
      <Allowed
        needs="reviewer"
        onClick={() => remove.mutate()}
        disabled={remove.isPending}
        aria-label={`Remove ${failure.test}`}
      >
        Remove
      </Allowed>
    </li>
  );
}
