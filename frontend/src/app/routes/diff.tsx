/** `/sprints/$id/diff` */
import { getRouteApi } from "@tanstack/react-router";

import { DiffPage } from "@/features/escalations/DiffPage";

const route = getRouteApi("/sprints/$id/diff");

export function DiffRoute() {
  const { id } = route.useParams();
  return <DiffPage key={id} id={id} />;
}
