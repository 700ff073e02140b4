/** `/sprints/$id` */
import { getRouteApi } from "@tanstack/react-router";

import { SprintPage } from "@/features/runs/SprintPage";

const route = getRouteApi("/sprints/$id");

export function SprintRoute() {
  const { id } = route.useParams();
  return <SprintPage key={id} id={id} />;
}
