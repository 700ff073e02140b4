/** For addresses that lead nowhere. */
import { Link, useRouterState } from "@tanstack/react-router";
import { MapPinOff } from "lucide-react";

import { buttonClass } from "@/components/Button";
import { PageHeader } from "@/components/PageHeader";
import { EmptyState } from "@/components/states";

export function NotFoundPage() {
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState icon={MapPinOff} title="Nothing is at this address">
        <p>
          <code className="theirs">{pathname}</code> is not a PhaseRunner page. Press <kbd>?</kbd> for the
          keys, or search for a run by its name, goal or id.
        </p>
        <Link to="/" className={buttonClass("primary")}>
          All runs
        </Link>
      </EmptyState>
    </>
  );
}
