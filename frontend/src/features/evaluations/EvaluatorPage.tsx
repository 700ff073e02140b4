/** Evaluator: not built yet. */
import { PageHeader } from "@/components/PageHeader";
import { EmptyState } from "@/components/states";

export function EvaluatorPage({ name }: { name: string }) {
  return (
    <>
      <PageHeader title="Evaluator" />
      <EmptyState title="This page is not built yet">
        <p>
          The command line and the API have what belongs here. <code className="theirs">{name}</code>
        </p>
      </EmptyState>
    </>
  );
}
