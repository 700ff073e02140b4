/** What one attempt of a sprint changed. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { buttonClass } from "@/components/Button";
import { CopyMenu } from "@/components/CopyMenu";
import { PageHeader } from "@/components/PageHeader";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { StatusBadge } from "@/components/StatusBadge";
import { command, curl } from "@/lib/commands";
import { identity } from "@/lib/identity";
import { type Attempt, runQuery } from "@/lib/queries/runs";

import { DiffPane, type Shown } from "./components/DiffPane";

interface Props {
  id: string;
  phase: string | undefined;
  attempt: number | undefined;
  /** Counted from 1. */
  candidate: number | undefined;
  shown: Shown;
  onShow: (change: Partial<Shown>) => void;
  onAttempt: (phase: string, attempt: number) => void;
}

export function DiffPage({ id, phase, attempt, candidate, shown, onShow, onAttempt }: Props) {
  const { data, error, refetch } = useQuery(runQuery(id));
  if (!data) {
    return (
      <>
        <PageHeader title="Diff" />
        {error ? (
          <ErrorState error={error} what="load the sprint" onRetry={() => void refetch()} />
        ) : (
          <LoadingState what="the sprint" />
        )}
      </>
    );
  }
  const produced = data.attempts.filter((each) => each.head_commit !== null);
  const chosen = chooseAttempt(produced, phase, attempt);
  return (
    <>
      <PageHeader
        title={`Diff: ${data.name}`}
        beside={chosen && <StatusBadge status={chosen.verdict ?? chosen.status} />}
        actions={
          <>
            {produced.length > 0 && <Chooser attempts={produced} chosen={chosen} onAttempt={onAttempt} />}
            {chosen && <CopyMenu items={copiesOf(id, chosen, shown)} />}
            {data.escalation_id && (
              <Link
                to="/escalations/$id"
                params={{ id: data.escalation_id }}
                className={buttonClass("primary")}
              >
                Decide
              </Link>
            )}
            <Link to="/sprints/$id" params={{ id }} className={buttonClass()}>
              The sprint
            </Link>
          </>
        }
      />
      {chosen ? (
        <DiffPane
          id={id}
          phase={chosen.phase}
          number={chosen.number}
          candidate={candidate === undefined ? undefined : candidate - 1}
          shown={shown}
          onShow={onShow}
          comments={NO_COMMENTS}
          evaluations={candidate === undefined ? chosen.evaluations : NO_EVALUATIONS}
          actions={null}
        />
      ) : (
        <EmptyState title="No diff yet">
          <p>
            {attempt === undefined
              ? "No attempt has produced output yet. The sprint's page shows its progress."
              : "This attempt produced no output."}
          </p>
        </EmptyState>
      )}
    </>
  );
}

const NO_COMMENTS: [] = [];
const NO_EVALUATIONS: [] = [];

export function chooseAttempt(
  produced: readonly Attempt[],
  phase: string | undefined,
  number: number | undefined,
): Attempt | undefined {
  return produced.findLast(
    (each) =>
      (phase === undefined || each.phase === phase) && (number === undefined || each.number === number),
  );
}

interface ChooserProps {
  attempts: readonly Attempt[];
  chosen: Attempt | undefined;
  onAttempt: (phase: string, attempt: number) => void;
}

function Chooser({ attempts, chosen, onAttempt }: ChooserProps) {
  return (
    <label className="flex items-center gap-2">
      <span className="text-muted">Attempt</span>
      <select
        className="field min-h-8"
        value={chosen?.id ?? ""}
        onChange={(event) => {
          const found = attempts.find((each) => each.id === event.target.value);
          if (found) onAttempt(found.phase, found.number);
        }}
      >
        {attempts.map((each) => (
          <option key={each.id} value={each.id}>
            {each.phase} {each.number}, {each.verdict ?? each.status}
          </option>
        ))}
      </select>
    </label>
  );
}

function copiesOf(id: string, { phase, number }: Attempt, { against }: Shown) {
  const path = `/api/v1/runs/${id}/attempts/${phase}/${number}/diff?against=${against}`;
  const words = ["diff", id, `--attempt=${phase}/${number}`, `--against=${against}`];
  return [
    {
      label: "as curl",
      text: () => curl(location.origin, "GET", path, undefined, identity.get().token !== ""),
    },
    { label: "as command", text: () => command(location.origin, words) },
    { label: "link to this page", text: () => location.href },
  ];
}
