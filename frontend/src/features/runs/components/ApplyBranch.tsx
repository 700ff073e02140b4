/** Creates a branch with the result in the local repository that the run started from, after asking. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";
import { useState } from "react";

import { Allowed } from "@/components/Allowed";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { UntrustedText } from "@/components/UntrustedText";
import { keys } from "@/lib/queries/keys";
import { createBranch } from "@/lib/queries/results";
import type { RunDetail } from "@/lib/queries/runs";

export function ApplyBranch({ run, branch }: { run: RunDetail; branch: string }) {
  const [asks, setAsks] = useState(false);
  const client = useQueryClient();
  const apply = useMutation({
    mutationFn: (name: string) => createBranch(run.id, name.trim()),
    onSuccess: () => {
      setAsks(false);
      void client.invalidateQueries({ queryKey: keys.result(run.id) });
    },
  });
  const made = apply.data;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Allowed needs="reviewer" onClick={() => setAsks(true)}>
        <GitBranch aria-hidden size={16} />
        Create the branch …
      </Allowed>
      {made && (
        <p role="status" className="theirs">
          {made.created ? "Created" : "There already:"}{" "}
          <code>
            <UntrustedText text={made.branch} />
          </code>{" "}
          in{" "}
          <code>
            <UntrustedText text={made.repository} />
          </code>
          , at <code>{made.commit.slice(0, 10)}</code>.
        </p>
      )}
      {asks && (
        <ConfirmDialog
          title="Create a branch in your repository?"
          text={`The service adds the commits and one new branch to ${run.project}. Your working tree, index and current branch do not change.`}
          label="Name of the branch"
          initial={branch}
          isOneLine
          weight="primary"
          confirm="Create the branch"
          isBusy={apply.isPending}
          error={apply.error}
          onConfirm={(name) => apply.mutate(name)}
          onClose={() => {
            setAsks(false);
            apply.reset();
          }}
        />
      )}
    </div>
  );
}
