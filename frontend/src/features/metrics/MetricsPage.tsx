/** Metrics: not built yet. */
import { PageHeader } from "@/components/PageHeader";
import { EmptyState } from "@/components/states";

export function MetricsPage() {
  return (
    <>
      <PageHeader title="Metrics" />
      <EmptyState title="This page is not built yet">
        <p>
          The command line and the API have what belongs here.
        </p>
      </EmptyState>
    </>
  );
}
