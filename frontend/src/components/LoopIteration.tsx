/** One iteration of a loop: what the director gave, what the script made of it, and what the evaluator said. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Cost } from "@/components/Cost";
import { Disclosure } from "@/components/Disclosure";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import type { Schemas } from "@/lib/api/client";
import { formatCount, formatDuration, plural } from "@/lib/format";
import type { Iteration } from "@/lib/queries/loops";

export function LoopIteration({ iteration, open }: { iteration: Iteration; open: boolean }) {
  const summary = (
    <span className="inline-flex flex-wrap items-center gap-x-3">
      <span className="font-medium text-ink">Iteration {iteration.iteration}</span>
      <StatusBadge status={iteration.status} />
      {iteration.condition_met === true && <span>condition met</span>}
    </span>
  );
  return (
    <Disclosure className="card" summaryClass="px-3 py-1.5 text-muted" open={open} summary={summary}>
      {() => (
        <div className="flex flex-col gap-3 border-t border-line p-3" data-iteration={iteration.iteration}>
          <Part title="Director" took={iteration.times.director}>
            <UntrustedBlock text={iteration.output ?? ""} empty="No output yet." />
            <Notes notes={iteration.notes} />
          </Part>
          <Exchanges exchanges={iteration.exchanges} />
          {iteration.scriptOutput && (
            <Part title="Script" took={iteration.times.script}>
              <Script output={iteration.scriptOutput} />
            </Part>
          )}
          <Part title="Evaluator" took={iteration.times.evaluator}>
            <Evaluation iteration={iteration} />
          </Part>
          <Context iteration={iteration} />
          <p className="flex flex-wrap gap-x-6 text-muted">
            <span>{plural(iteration.turns, "turn")}</span>
            <span>
              Cost <Cost usage={iteration.consumed} />
            </span>
            {iteration.lost_workers > 0 && <span>{plural(iteration.lost_workers, "lost worker")}</span>}
          </p>
        </div>
      )}
    </Disclosure>
  );
}

interface PartProps {
  title: string;
  /** Milliseconds. */
  took: number | null | undefined;
  children: ReactNode;
}

function Part({ title, took, children }: PartProps) {
  return (
    <div className="flex flex-col gap-1" data-part={title}>
      <h3 className="flex gap-3 font-medium">
        {title}
        {took !== null && took !== undefined && (
          <span className="font-normal text-muted">{formatDuration(took)}</span>
        )}
      </h3>
      {children}
    </div>
  );
}

function Notes({ notes, title = "Notes" }: { notes: object; title?: string }) {
  if (Object.keys(notes).length === 0) return null;
  return (
    <Disclosure summary={title}>{() => <UntrustedBlock text={JSON.stringify(notes, null, 2)} />}</Disclosure>
  );
}

function Script({ output }: { output: Schemas["ScriptOutput"] }) {
  const isGood = output.exitCode === 0;
  return (
    <>
      <p>
        <StatusBadge status={isGood ? "passed" : "failed"} word={`exit code ${output.exitCode}`} />
      </p>
      <p className="text-muted">Standard output</p>
      <UntrustedBlock text={output.stdout} empty="No output." />
      {output.stderr && (
        <>
          <p className="text-muted">Standard error</p>
          <UntrustedBlock text={output.stderr} />
        </>
      )}
    </>
  );
}

function Evaluation({ iteration }: { iteration: Iteration }) {
  const { evaluation } = iteration;
  return (
    <>
      {evaluation ? (
        <>
          <p>
            <StatusBadge
              status={evaluation.success ? "passed" : "failed"}
              word={evaluation.success ? "success" : "no success"}
            />
          </p>
          <UntrustedBlock text={evaluation.feedback} empty="No feedback." />
          <Notes title="Details" notes={evaluation.details ?? {}} />
        </>
      ) : (
        <p className="text-muted">Not evaluated.</p>
      )}
      {iteration.condition_trouble && (
        <p className="theirs">
          <strong className="font-medium">The condition could not be evaluated:</strong>{" "}
          <UntrustedText text={iteration.condition_trouble} />
        </p>
      )}
    </>
  );
}

function Exchanges({ exchanges }: { exchanges: Iteration["exchanges"] }) {
  if (exchanges.length === 0) return null;
  return (
    <Disclosure summary={`Requests of the director: ${exchanges.length}`}>
      {() => (
        <ol className="flex list-decimal flex-col gap-2 pl-5">
          {exchanges.map((each, index) => (
            <li key={index}>
              <span className="theirs">
                <UntrustedText
                  text={each.subtask_request?.description ?? each.evaluation_request?.criteria ?? ""}
                />
              </span>
              {each.run_id && (
                <Link to="/loops/$id" params={{ id: each.run_id }} className="ml-2">
                  the subtask
                </Link>
              )}
              <UntrustedBlock text={each.result?.content ?? ""} empty="No result." />
            </li>
          ))}
        </ol>
      )}
    </Disclosure>
  );
}

function Context({ iteration }: { iteration: Iteration }) {
  const { context, files } = iteration;
  if (!context && files.length === 0) return null;
  return (
    <Disclosure
      summary={`Context of the director: ${formatCount(context.length)} characters, ${plural(files.length, "file")}`}
    >
      {() => (
        <div className="flex flex-col gap-2">
          {files.length > 0 && (
            <ul className="mono">
              {files.map((each) => (
                <li key={each.path} className="theirs">
                  <UntrustedText text={each.path} /> ({formatCount(each.chars)} characters
                  {each.whole ? "" : ", passages"})
                </li>
              ))}
            </ul>
          )}
          <UntrustedBlock text={context} />
        </div>
      )}
    </Disclosure>
  );
}
