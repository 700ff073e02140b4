/** `/new` */
import { getRouteApi } from "@tanstack/react-router";

import { NewAnswerPage } from "@/features/runs/NewAnswerPage";
import { NewLoopPage } from "@/features/runs/NewLoopPage";
import { NewSprintPage } from "@/features/runs/NewSprintPage";

const route = getRouteApi("/new");

export function NewRoute() {
  const { kind } = route.useSearch();
  if (kind === "director_loop") return <NewLoopPage />;
  return kind === "answer" ? <NewAnswerPage /> : <NewSprintPage />;
}
