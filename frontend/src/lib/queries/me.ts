/** Who uses the page, as the service sees it, and what their role allows. */
import { queryOptions, useQuery } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";
import { identity } from "@/lib/identity";
import { useStore } from "@/lib/store";

export type Role = Schemas["Role"];

const ROLES: readonly Role[] = ["viewer", "operator", "reviewer", "admin"];

export const meQuery = (token: string) =>
  queryOptions({
    queryKey: ["me", token],
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/me", { signal })),
    staleTime: 60_000,
  });

/** Who a token belongs to; an ApiError if the service does not know the token. It is not kept. */
export const checkToken = (token: string) =>
  unwrap(api.GET("/api/v1/me", { headers: { Authorization: token ? `Bearer ${token}` : "" } }));

/** The name under which the service records what the user does; empty as long as the page does not know. */
export function useMyName(): string {
  const { token } = useStore(identity);
  return useQuery(meQuery(token)).data?.name ?? "";
}

/** Why the user may not do what needs `role`; empty if they may, and as long as the page does not know. */
export function useObstacle(role: Role): string {
  const { token } = useStore(identity);
  const { data } = useQuery(meQuery(token));
  if (!data || ROLES.indexOf(data.role) >= ROLES.indexOf(role)) return "";
  return `This needs the role ${role}; ${data.name} is ${data.role}.`;
}
