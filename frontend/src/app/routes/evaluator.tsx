/** `/evaluators/$name` */
import { getRouteApi } from "@tanstack/react-router";

import { EvaluatorPage } from "@/features/evaluations/EvaluatorPage";

const route = getRouteApi("/evaluators/$name");

export function EvaluatorRoute() {
  const { name } = route.useParams();
  return <EvaluatorPage key={name} name={name} />;
}
