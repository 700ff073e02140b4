/** The query cache's defaults: REST is the truth, and events say when to ask again. */
import { QueryClient } from "@tanstack/react-query";

import { isPassing } from "@/lib/api/errors";

const RETRIES = 2;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        gcTime: 300_000,
        retry: (count, error) => count < RETRIES && isPassing(error),
        retryDelay: (count) => 300 * 2 ** count,
        // Also asked for when a browser takes itself for offline: the service may be on this machine.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
