/** Shows a part of the page as its routes do, without what is around it. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";

/** Addresses that links of the part lead to; nothing is there. */
const ELSEWHERE = ["/answers/$id", "/sprints/$id", "/escalations/$id", "/evaluators/$name"] as const;

export function show(Part: () => ReactNode): void {
  const root = createRootRoute();
  const page = createRoute({ getParentRoute: () => root, path: "/", component: Part });
  const others = ELSEWHERE.map((path) =>
    createRoute({ getParentRoute: () => root, path, component: () => null }),
  );
  const routeTree = root.addChildren([page, ...others]);
  const router = createRouter({ routeTree, history: createMemoryHistory() });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}
