/** `/` */
import { RunsPage } from "@/features/runs/RunsPage";

export function RunsRoute() {
  return <RunsPage />;
}
