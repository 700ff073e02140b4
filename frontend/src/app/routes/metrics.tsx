/** `/metrics` */
import { MetricsPage } from "@/features/metrics/MetricsPage";

export function MetricsRoute() {
  return <MetricsPage />;
}
