/** `/new` */
import { NewSprintPage } from "@/features/runs/NewSprintPage";

export function NewRoute() {
  return <NewSprintPage />;
}
