/** `/loops/$id` */
import { getRouteApi } from "@tanstack/react-router";

import { LoopPage } from "@/features/runs/LoopPage";

const route = getRouteApi("/loops/$id");

export function LoopRoute() {
  const { id } = route.useParams();
  return <LoopPage key={id} id={id} />;
}
