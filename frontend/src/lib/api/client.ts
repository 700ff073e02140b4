/** The typed client of the API, generated from the server's description. */
import createClient, { type Middleware } from "openapi-fetch";

import type { components, paths } from "@/api/schema";
import { identity } from "@/lib/identity";

import { ApiError, type Problem, UnreachableError } from "./errors";

export type Schemas = components["schemas"];

const withIdentity: Middleware = {
  onRequest({ request }) {
    const { token, name } = identity.get();
    // A token that is checked before it is kept is named by its request; an empty one means none.
    const checked = request.headers.get("Authorization");
    if (checked === "") request.headers.delete("Authorization");
    else if (checked === null && token) request.headers.set("Authorization", `Bearer ${token}`);
    if (name) request.headers.set("X-PhaseRunner-User", encodeHeader(name));
    return request;
  },
};

export const api = createClient<paths>({
  baseUrl: typeof location === "undefined" ? "http://localhost" : location.origin,
  // Looked up at each call, so that tests can put their own server in its place.
  fetch: (request: Request) => globalThis.fetch(request),
});
api.use(withIdentity);

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** Give the body of an answer; throw an ApiError for a refusal and an UnreachableError for no answer. */
export async function unwrap<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new UnreachableError(error);
  }
  if (!answer.response.ok) throw new ApiError(problemOf(answer.response, answer.error));
  return answer.data as T;
}

function problemOf(response: Response, body: unknown): Problem {
  const given = typeof body === "object" && body !== null ? (body as Partial<Problem>) : {};
  return {
    ...given,
    type: given.type ?? "about:blank",
    title: given.title ?? response.statusText,
    status: response.status,
    field: given.field ?? null,
    detail: given.detail ?? `The service answered ${response.status} ${response.statusText}`.trim(),
    errors: given.errors ?? [],
  };
}

/** Headers carry bytes; the service reads the name as UTF-8. */
function encodeHeader(value: string): string {
  return String.fromCharCode(...new TextEncoder().encode(value));
}
