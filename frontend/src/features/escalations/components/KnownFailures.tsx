/** Whether later runs of the repository ask again about the tests in question that were red before. */
import { Link } from "@tanstack/react-router";

import { plural } from "@/lib/format";
import type { EscalationDetail } from "@/lib/queries/escalations";

import type { Draft } from "../resolution";

interface Props {
  escalation: EscalationDetail;
  draft: Draft;
  update: (change: (before: Draft) => Draft) => void;
}

export function KnownFailures({ escalation: { questions, project }, draft, update }: Props) {
  const count = new Set(questions.flatMap((each) => each.tests)).size;
  if (count === 0 || draft.decision === "reject") return null;
  const [these, them] = count === 1 ? ["this red test", "it"] : ["these red tests", "them"];
  return (
    <div>
      <label className="flex items-center gap-2 font-medium">
        <input
          type="checkbox"
          checked={draft.knownFailures}
          onChange={(event) => update((before) => ({ ...before, knownFailures: event.target.checked }))}
        />
        Do not ask about {these} again
      </label>
      <p className="text-xs text-muted">
        {plural(count, "test")} may stay red in all runs of this repository, unless a goal is about {them}.{" "}
        <Link to="/known-failures" search={{ project: project ?? undefined }} className="underline">
          See known failures
        </Link>
      </p>
    </div>
  );
}
