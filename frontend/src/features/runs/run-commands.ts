/** Commands about one run, as they are copied. Pure. */
import { command } from "@/lib/commands";
import type { Run } from "@/lib/queries/runs";

/** A local repository is named by its path; a result belongs there. */
export function localRepository(run: Run): string {
  return run.project.startsWith("/") ? run.project : "";
}

export function resultCommand(run: Run, branch: string, origin = location.origin): string {
  return command(origin, ["result", run.id, `--branch=${branch}`], localRepository(run));
}
