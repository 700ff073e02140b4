/** `/answers/$id` */
import { getRouteApi } from "@tanstack/react-router";

import { AnswerPage } from "@/features/runs/AnswerPage";

const route = getRouteApi("/answers/$id");

export function AnswerRoute() {
  const { id } = route.useParams();
  return <AnswerPage key={id} id={id} />;
}
