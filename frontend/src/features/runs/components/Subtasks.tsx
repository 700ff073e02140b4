/** The subtasks of a loop as a tree, each with its own page. */
import { Link } from "@tanstack/react-router";

import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import type { Schemas } from "@/lib/api/client";

type Node = Schemas["SubtaskNode"];

export function Subtasks({ nodes }: { nodes: readonly Node[] }) {
  if (nodes.length === 0) return null;
  return (
    <section aria-labelledby="subtasks" className="card flex flex-col gap-2 p-3">
      <h2 id="subtasks" className="font-semibold">
        Subtasks
      </h2>
      <Tree nodes={nodes} />
    </section>
  );
}

function Tree({ nodes }: { nodes: readonly Node[] }) {
  return (
    <ul className="flex flex-col gap-1 border-l border-line pl-3">
      {nodes.map((each) => (
        <li key={each.run_id} className="flex flex-col gap-1">
          <span className="flex flex-wrap items-center gap-x-3">
            <StatusBadge status={each.status} />
            <Link to="/loops/$id" params={{ id: each.run_id }} className="theirs">
              <UntrustedText text={each.name} />
            </Link>
          </span>
          {each.subtasks.length > 0 && <Tree nodes={each.subtasks} />}
        </li>
      ))}
    </ul>
  );
}
