/** For a page that fails itself; never a blank one. */
import { useRouter } from "@tanstack/react-router";

import { PageHeader } from "@/components/PageHeader";
import { ErrorState } from "@/components/states";

export function BrokenPage({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  function retry(): void {
    reset();
    void router.invalidate();
  }
  return (
    <>
      <PageHeader title="This page failed" />
      <ErrorState error={error} what="show this page" onRetry={retry} />
    </>
  );
}
