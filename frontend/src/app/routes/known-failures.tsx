/** `/known-failures` */
import { useSearch } from "@tanstack/react-router";

import { KnownFailuresPage } from "@/features/known-failures/KnownFailuresPage";

export function KnownFailuresRoute() {
  const { project } = useSearch({ from: "/known-failures" });
  return <KnownFailuresPage project={project} />;
}
