/** The kinds of runs: what each is called, where its page is and where the API has it. Pure. */
import type { Schemas } from "@/lib/api/client";

export type RunKind = Schemas["RunKind"];

interface Kind {
  readonly word: string;
  readonly page: "/sprints/$id" | "/loops/$id" | "/answers/$id";
  readonly api: string;
}

export const KINDS: Readonly<Record<RunKind, Kind>> = {
  sprint: { word: "sprint", page: "/sprints/$id", api: "/api/v1/sprints" },
  director_loop: { word: "loop", page: "/loops/$id", api: "/api/v1/loops" },
  answer: { word: "answer", page: "/answers/$id", api: "/api/v1/answers" },
};
