/** Director-evaluator loop: not built yet. */
import { PageHeader } from "@/components/PageHeader";
import { EmptyState } from "@/components/states";

export function LoopPage({ id }: { id: string }) {
  return (
    <>
      <PageHeader title="Director-evaluator loop" />
      <EmptyState title="This page is not built yet">
        <p>
          The command line and the API have what belongs here. <code className="theirs">{id}</code>
        </p>
      </EmptyState>
    </>
  );
}
