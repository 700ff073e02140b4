/** All routes. Each page is a separate chunk; the URL holds what it shows. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";

import { LoadingState } from "@/components/states";
import {
  parseBacklogSearch,
  parseDiffSearch,
  parseEscalationsSearch,
  parseMetricsSearch,
  parseReviewSearch,
  parseRunSearch,
  parseRunsSearch,
  parseSettingsSearch,
  parseStartSearch,
  parseVerdictsSearch,
} from "@/lib/search";

import { BrokenPage } from "./shell/BrokenPage";
import { NotFoundPage } from "./shell/NotFoundPage";
import { Shell } from "./shell/Shell";

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Shell,
  notFoundComponent: NotFoundPage,
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: parseRunsSearch,
  component: lazyRouteComponent(() => import("./routes/runs"), "RunsRoute"),
});
const start = createRoute({
  getParentRoute: () => root,
  path: "/new",
  validateSearch: parseStartSearch,
  component: lazyRouteComponent(() => import("./routes/new"), "NewRoute"),
});
const sprint = createRoute({
  getParentRoute: () => root,
  path: "/sprints/$id",
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import("./routes/sprint"), "SprintRoute"),
});
const diff = createRoute({
  getParentRoute: () => root,
  path: "/sprints/$id/diff",
  validateSearch: parseDiffSearch,
  component: lazyRouteComponent(() => import("./routes/diff"), "DiffRoute"),
});
const loop = createRoute({
  getParentRoute: () => root,
  path: "/loops/$id",
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import("./routes/loop"), "LoopRoute"),
});
const answer = createRoute({
  getParentRoute: () => root,
  path: "/answers/$id",
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import("./routes/answer"), "AnswerRoute"),
});
const escalations = createRoute({
  getParentRoute: () => root,
  path: "/escalations",
  validateSearch: parseEscalationsSearch,
  component: lazyRouteComponent(() => import("./routes/escalations"), "EscalationsRoute"),
});
const escalation = createRoute({
  getParentRoute: () => root,
  path: "/escalations/$id",
  validateSearch: parseReviewSearch,
  component: lazyRouteComponent(() => import("./routes/escalation"), "EscalationRoute"),
});
const backlog = createRoute({
  getParentRoute: () => root,
  path: "/backlog",
  validateSearch: parseBacklogSearch,
  component: lazyRouteComponent(() => import("./routes/backlog"), "BacklogRoute"),
});
const knownFailures = createRoute({
  getParentRoute: () => root,
  path: "/known-failures",
  validateSearch: parseBacklogSearch,
  component: lazyRouteComponent(() => import("./routes/known-failures"), "KnownFailuresRoute"),
});
const metrics = createRoute({
  getParentRoute: () => root,
  path: "/metrics",
  validateSearch: parseMetricsSearch,
  component: lazyRouteComponent(() => import("./routes/metrics"), "MetricsRoute"),
});
const evaluators = createRoute({
  getParentRoute: () => root,
  path: "/evaluators",
  component: lazyRouteComponent(() => import("./routes/evaluators"), "EvaluatorsRoute"),
});
const evaluator = createRoute({
  getParentRoute: () => root,
  path: "/evaluators/$name",
  validateSearch: parseVerdictsSearch,
  component: lazyRouteComponent(() => import("./routes/evaluator"), "EvaluatorRoute"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: parseSettingsSearch,
  component: lazyRouteComponent(() => import("./routes/settings"), "SettingsRoute"),
});

const tree = root.addChildren([
  runs,
  start,
  sprint,
  diff,
  loop,
  answer,
  escalations,
  escalation,
  backlog,
  knownFailures,
  metrics,
  evaluators,
  evaluator,
  settings,
]);

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: "intent",
    // The query cache knows what is fresh.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultPendingComponent: () => <LoadingState what="the page" />,
    defaultErrorComponent: BrokenPage,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
