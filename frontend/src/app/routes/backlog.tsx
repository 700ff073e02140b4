/** `/backlog` */
import { useSearch } from "@tanstack/react-router";

import { BacklogPage } from "@/features/backlog/BacklogPage";

export function BacklogRoute() {
  const { project } = useSearch({ from: "/backlog" });
  return <BacklogPage project={project} />;
}
