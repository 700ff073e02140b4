/** `/escalations/$id` */
import { getRouteApi } from "@tanstack/react-router";

import { EscalationPage } from "@/features/escalations/EscalationPage";

const route = getRouteApi("/escalations/$id");

export function EscalationRoute() {
  const { id } = route.useParams();
  return <EscalationPage key={id} id={id} />;
}
