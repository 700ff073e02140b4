/** `/evaluators` */
import { EvaluatorsPage } from "@/features/evaluations/EvaluatorsPage";

export function EvaluatorsRoute() {
  return <EvaluatorsPage />;
}
