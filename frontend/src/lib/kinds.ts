/** The kinds of runs: what each is called and where its page is. Pure. */
import type { Schemas } from "@/lib/api/client";

export type RunKind = Schemas["RunKind"];

interface Kind {
  readonly word: string;
  readonly page: "/sprints/$id" | "/loops/$id" | "/answers/$id";
}

export const KINDS: Readonly<Record<RunKind, Kind>> = {
  sprint: { word: "sprint", page: "/sprints/$id" },
  director_loop: { word: "loop", page: "/loops/$id" },
  answer: { word: "answer", page: "/answers/$id" },
};
