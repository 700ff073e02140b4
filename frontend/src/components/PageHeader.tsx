/** The top of a page: its one heading, and what can be done there. Sets the document's title as well. */
import { type ReactNode, useEffect } from "react";

import { visible } from "@/lib/text/visible";
import { documentTitle, type PageState } from "@/lib/title";

interface Props {
  title: string;
  /** What the document's title tells of a run before its name, such as `completed`. */
  state?: string;
  /** Beside the heading, such as a badge. */
  beside?: ReactNode;
  actions?: ReactNode;
}

export function PageHeader({ title, state, beside, actions }: Props) {
  const shown = visible(title);
  const named = state ? `${state}: ${shown}` : shown;
  useEffect(() => documentTitle.setPage(named, state ? iconOf(state) : null), [named, state]);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3">
      <h1 className="theirs text-lg font-semibold">{shown}</h1>
      {beside}
      {actions && <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>}
    </div>
  );
}

const ICONS: Record<string, PageState> = {
  running: "running",
  "needs a person": "waiting",
  completed: "done",
  failed: "failed",
  cancelled: "failed",
};

function iconOf(state: string): PageState | null {
  return ICONS[state] ?? null;
}
