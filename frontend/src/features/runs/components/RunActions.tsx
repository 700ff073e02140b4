/** What can be done with a run. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileDiff, UserRound } from "lucide-react";
import { useMemo, useState } from "react";

import { Button, buttonClass } from "@/components/Button";
import { CopyMenu } from "@/components/CopyMenu";
import { command, curl } from "@/lib/commands";
import { identity } from "@/lib/identity";
import { keys } from "@/lib/queries/keys";
import { cancelSprint, type SprintDetail } from "@/lib/queries/sprints";
import { type Action, useActions } from "@/lib/shortcuts";

import { ConfirmDialog } from "./ConfirmDialog";

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export function RunActions({ sprint }: { sprint: SprintDetail }) {
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  const isOver = OVER.has(sprint.status);
  const cancel = useMutation({
    mutationFn: (reason: string) => cancelSprint(sprint.id, reason),
    onSuccess(next) {
      client.setQueryData(keys.sprint(sprint.id), next);
      void client.invalidateQueries({ queryKey: keys.runs });
      setAsks(false);
    },
  });
  const actions = useMemo<readonly Action[]>(
    () => (isOver ? [] : [{ id: "cancel-run", label: "Cancel this run", group: "This run", run: () => setAsks(true) }]),
    [isOver],
  );
  useActions(actions);

  return (
    <>
      {sprint.escalation_id && (
        <Link to="/escalations/$id" params={{ id: sprint.escalation_id }} className={buttonClass("primary")}>
          <UserRound aria-hidden size={16} />
          Decide
        </Link>
      )}
      {sprint.attempts.some((each) => each.head_commit) && (
        <Link to="/sprints/$id/diff" params={{ id: sprint.id }} className={buttonClass()}>
          <FileDiff aria-hidden size={16} />
          Diff
        </Link>
      )}
      <CopyMenu items={copies(sprint)} />
      {!isOver && (
        <Button weight="danger" onClick={() => setAsks(true)}>
          Cancel run
        </Button>
      )}
      <ConfirmDialog
        open={asks}
        title="Cancel this run?"
        text="The agent is stopped and the run ends. What was recorded stays."
        label="Reason (optional)"
        confirm="Cancel the run"
        isBusy={cancel.isPending}
        error={cancel.error}
        onConfirm={(reason) => cancel.mutate(reason)}
        onClose={() => setAsks(false)}
      />
    </>
  );
}

function copies(sprint: SprintDetail) {
  const here = `/api/v1/sprints/${sprint.id}`;
  const withToken = () => identity.get().token !== "";
  const base = [
    { label: "Link to this page", text: () => location.href },
    { label: "Id", text: () => sprint.id },
    { label: "curl", text: () => curl(location.origin, "GET", here, undefined, withToken()) },
    { label: "Command: watch", text: () => command("watch", sprint.id) },
    { label: "Command: show", text: () => command("show", sprint.id) },
  ];
  const result = { label: "Command: fetch the result", text: () => command("result", sprint.id, "--branch", `phaserunner/${sprint.id.slice(0, 8)}`) };
  return sprint.attempts.some((each) => each.head_commit) ? [...base, result] : base;
}
