/** What an attempt left: the agent's last words, the files it changed, what it used. */
import { Link } from "@tanstack/react-router";

import { formatCount, plural } from "@/lib/format";
import type { Attempt } from "@/lib/queries/runs";
import { plainText } from "@/lib/text/ansi";

import { buttonClass } from "./Button";
import { Cost } from "./Cost";
import { UntrustedText } from "./UntrustedText";

export function OutputView({ runId, attempt }: { runId: string; attempt: Attempt }) {
  const { usage } = attempt;
  return (
    <section aria-label="Output" className="card grid gap-4 p-3 md:grid-cols-2">
      <div>
        <h3 className="mb-1 font-semibold">Agent&apos;s final message</h3>
        <pre className="theirs">
          {attempt.output.split("\n").map(plainText).join("\n") || "No output yet."}
        </pre>
      </div>
      <div>
        <h3 className="mb-1 font-semibold">{plural(attempt.changed_files.length, "changed file")}</h3>
        <ul className="mono mb-3">
          {attempt.changed_files.map((path) => (
            <li key={path} className="theirs">
              <UntrustedText text={path} />
            </li>
          ))}
        </ul>
        {attempt.head_commit && (
          <Link
            to="/sprints/$id/diff"
            params={{ id: runId }}
            search={{ phase: attempt.phase as "coding", attempt: attempt.number }}
            className={buttonClass()}
          >
            Show the diff
          </Link>
        )}
        <dl className="mt-3 grid grid-cols-[auto_1fr] gap-x-4">
          <dt className="text-muted">Tokens</dt>
          <dd>
            {formatCount(usage.input_tokens)} in, {formatCount(usage.output_tokens)} out
          </dd>
          <dt className="text-muted">Tool calls</dt>
          <dd>{formatCount(usage.tool_calls)}</dd>
          <dt className="text-muted">Cost</dt>
          <dd>
            <Cost usage={usage} />
          </dd>
          {attempt.trace_id && (
            <>
              <dt className="text-muted">Trace</dt>
              <dd>
                <code>{attempt.trace_id}</code>
              </dd>
            </>
          )}
        </dl>
      </div>
    </section>
  );
}
