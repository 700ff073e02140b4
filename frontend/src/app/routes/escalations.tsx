/** `/escalations` */
import { EscalationsPage } from "@/features/escalations/EscalationsPage";

export function EscalationsRoute() {
  return <EscalationsPage />;
}
