/** Starts the page. */
import "./styles.css";

import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { identity } from "@/lib/identity";
import { LiveContext } from "@/lib/live-context";
import { createQueryClient } from "@/lib/queries/client";
import { turnSpinners } from "@/lib/spinners";
import { createLive } from "@/lib/stream/live";
import { theme } from "@/lib/theme";

import { createAppRouter } from "./router";

theme.start();
turnSpinners();

const queries = createQueryClient();
const live = createLive(queries);
const router = createAppRouter(queries);

live.stream.start();
identity.subscribe(() => {
  queries.clear();
  live.stream.start();
  void router.invalidate();
});
window.addEventListener("online", () => live.stream.retry());

const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <LiveContext value={live}>
        <RouterProvider router={router} />
      </LiveContext>
    </QueryClientProvider>
  </StrictMode>,
);
