/** `/settings` */
import { getRouteApi } from "@tanstack/react-router";

import { SettingsPage } from "@/features/settings/SettingsPage";

const route = getRouteApi("/settings");

export function SettingsRoute() {
  const { back } = route.useSearch();
  return <SettingsPage back={back} />;
}
