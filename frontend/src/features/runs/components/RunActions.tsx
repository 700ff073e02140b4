/** What can be done with a run. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FileDiff, GitFork, Pause, Play, UserRound } from "lucide-react";
import { useCallback, useMemo, useState } from "react";

import { Allowed } from "@/components/Allowed";
import { buttonClass } from "@/components/Button";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { CopyMenu } from "@/components/CopyMenu";
import { explain } from "@/components/states";
import { command, curl } from "@/lib/commands";
import { identity } from "@/lib/identity";
import { keys } from "@/lib/queries/keys";
import {
  type Attempt,
  cancelRun,
  forkRun,
  pauseRun,
  type Phase,
  resumeRun,
  type Run,
  type RunDetail,
} from "@/lib/queries/runs";
import { useRepeatKey } from "@/lib/repeat-key";
import { type Action, useActions } from "@/lib/shortcuts";

import { resultCommand } from "../run-commands";

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

type Ask = "cancel" | "pause" | "fork";

interface Props {
  run: Run;
  /** Only a sprint's: other kinds of run leave no files. */
  attempts?: readonly Attempt[];
  /** The attempt that is looked at; a fork begins with it. */
  attempt?: Attempt | undefined;
}

export function RunActions({ run, attempts, attempt }: Props) {
  const [asks, setAsks] = useState<Ask | null>(null);
  // A newer attempt may come while the dialog is open: the fork still begins with the one that was chosen.
  const [forked, setForked] = useState<Attempt>();
  const leftFiles = attempts?.some((each) => each.head_commit) ?? false;
  const isOver = OVER.has(run.status);
  const isPaused = Boolean(run.paused);
  const origin = attempt?.head_commit ? attempt : undefined;
  const act = useRunCommands(run, forked, () => setAsks(null));
  const { mutate: resume } = act.resume;
  const askFork = useCallback(() => {
    setForked(origin);
    setAsks("fork");
  }, [origin]);
  const actions = useMemo<readonly Action[]>(() => {
    const group = "This run";
    const hold = isPaused
      ? { id: "resume-run", label: "Resume this run", group, run: () => resume() }
      : { id: "pause-run", label: "Pause this run", group, run: () => setAsks("pause") };
    const going = isOver
      ? []
      : [hold, { id: "cancel-run", label: "Cancel this run", group, run: () => setAsks("cancel") }];
    const fork = {
      id: "fork-run",
      label: "Start a new run from this attempt",
      group,
      run: askFork,
    };
    return origin ? [...going, fork] : going;
  }, [isOver, isPaused, origin, resume, askFork]);
  useActions(actions);

  return (
    <>
      {run.escalation_id && (
        <Link to="/escalations/$id" params={{ id: run.escalation_id }} className={buttonClass("primary")}>
          <UserRound aria-hidden size={16} />
          Decide
        </Link>
      )}
      {leftFiles && (
        <Link to="/sprints/$id/diff" params={{ id: run.id }} className={buttonClass()}>
          <FileDiff aria-hidden size={16} />
          Diff
        </Link>
      )}
      <CopyMenu items={copies(run, leftFiles)} />
      {origin && (
        <Allowed needs="operator" onClick={askFork}>
          <GitFork aria-hidden size={16} />
          Fork
        </Allowed>
      )}
      <TryNow run={run} isBusy={act.resume.isPending} onTry={resume} />
      {!isOver && (
        <>
          <Allowed
            needs="operator"
            disabled={act.resume.isPending}
            onClick={() => (isPaused ? resume() : setAsks("pause"))}
          >
            {isPaused ? <Play aria-hidden size={16} /> : <Pause aria-hidden size={16} />}
            {isPaused ? "Resume" : "Pause"}
          </Allowed>
          <Allowed needs="operator" weight="danger" onClick={() => setAsks("cancel")}>
            Cancel run
          </Allowed>
        </>
      )}
      <ResumeError error={act.resume.error} />
      {asks && (
        <ConfirmDialog
          {...dialogOf(asks, forked)}
          isBusy={act[asks].isPending}
          error={act[asks].error}
          onConfirm={(text) => act[asks].mutate(text)}
          onClose={() => {
            setAsks(null);
            act[asks].reset();
          }}
        />
      )}
    </>
  );
}

function TryNow({ run, isBusy, onTry }: { run: Run; isBusy: boolean; onTry: () => void }) {
  if (!waitsForModel(run)) {
    return null;
  }
  return (
    <Allowed needs="operator" disabled={isBusy} onClick={() => onTry()}>
      <Play aria-hidden size={16} />
      Try now
    </Allowed>
  );
}

/** Whether a run rests until its model may be back; resuming it ends the rest. */
function waitsForModel(run: Run): boolean {
  return run.status === "active" && !run.paused && run.status_reason.startsWith("waits for the ");
}

/** The other actions ask first, and their dialog shows what failed. */
function ResumeError({ error }: { error: Error | null }) {
  if (!error) return null;
  return (
    <p role="alert" className="theirs text-failed">
      {explain(error, "resume the run").text}
    </p>
  );
}

function useRunCommands(run: Run, origin: Attempt | undefined, done: () => void) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const key = useRepeatKey();
  const onSuccess = (next: RunDetail) => {
    if (next.kind === "sprint") client.setQueryData(keys.run(next.id), next);
    else void client.invalidateQueries({ queryKey: keys.run(next.id) });
    void client.invalidateQueries({ queryKey: keys.runs });
    done();
    if (next.id === run.id) return;
    // It has a fork now.
    void client.invalidateQueries({ queryKey: keys.run(run.id) });
    void navigate({ to: "/sprints/$id", params: { id: next.id } });
  };
  const cancel = useMutation({ mutationFn: (reason: string) => cancelRun(run.id, reason), onSuccess });
  const pause = useMutation({ mutationFn: (reason: string) => pauseRun(run.id, reason), onSuccess });
  const resume = useMutation({ mutationFn: () => resumeRun(run.id), onSuccess });
  const fork = useMutation({
    mutationFn: (guidance: string) => {
      const body = { phase: origin?.phase as Phase, attempt: origin?.number ?? 0, guidance, policy: {} };
      return forkRun(run.id, body, key.of(JSON.stringify(body)));
    },
    onSuccess(next: RunDetail) {
      key.arrived();
      onSuccess(next);
    },
  });
  return { cancel, pause, resume, fork };
}

function dialogOf(ask: Ask, origin: Attempt | undefined) {
  if (ask === "cancel") {
    return {
      title: "Cancel this run?",
      text: "The agent stops and the run ends. Its records stay.",
      label: "Reason (optional)",
      confirm: "Cancel the run",
    };
  }
  if (ask === "pause") {
    return {
      title: "Pause this run?",
      text: "No new step starts until you resume the run. Reviewers can still decide its escalations.",
      label: "Reason (optional)",
      confirm: "Pause the run",
    };
  }
  return {
    title: `Start a new run from ${origin?.phase} attempt ${origin?.number}?`,
    text: "It starts from that attempt's files and is evaluated against the same base. This run does not change.",
    label: "Guidance for its next attempt (optional)",
    confirm: "Start the new run",
  };
}

function copies(run: Run, leftFiles: boolean) {
  const here = `/api/v1/runs/${run.id}`;
  const { origin } = location;
  const withToken = () => identity.get().token !== "";
  const base = [
    { label: "Link to this page", text: () => location.href },
    { label: "Id", text: () => run.id },
    { label: "curl", text: () => curl(origin, "GET", here, undefined, withToken()) },
    { label: "Command: watch", text: () => command(origin, ["watch", run.id]) },
    { label: "Command: show", text: () => command(origin, ["show", run.id]) },
  ];
  const result = {
    label: "Command: fetch the result",
    text: () => resultCommand(run, `phaserunner/${run.id.slice(0, 8)}`),
  };
  return leftFiles ? [...base, result] : base;
}
