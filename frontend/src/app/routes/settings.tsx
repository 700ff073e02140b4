/** `/settings` */
import { SettingsPage } from "@/features/settings/SettingsPage";

export function SettingsRoute() {
  return <SettingsPage />;
}
