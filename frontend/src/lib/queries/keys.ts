/** Names of what the query cache holds; a prefix names all below it. */
export const keys = {
  info: ["info"] as const,
  evaluators: ["evaluators"] as const,
  runs: ["runs"] as const,
  runList: (filters: object) => ["runs", "list", filters] as const,
  runCounts: (filters: object) => ["runs", "counts", filters] as const,
  /** Of a run of any kind; what its events put out of date. */
  sprint: (id: string) => ["sprint", id] as const,
  loop: (id: string) => ["sprint", id, "loop"] as const,
  answer: (id: string) => ["sprint", id, "answer"] as const,
  attempt: (id: string, phase: string, number: number) => ["sprint", id, "attempt", phase, number] as const,
  diff: (id: string, phase: string, number: number, against: string) =>
    ["sprint", id, "diff", phase, number, against] as const,
  runEvents: (id: string) => ["events", id] as const,
  escalations: ["escalations"] as const,
  escalationList: (status: string) => ["escalations", "list", status] as const,
  escalation: (id: string) => ["escalations", "one", id] as const,
};
