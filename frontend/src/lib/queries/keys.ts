/** Names of what the query cache holds; a prefix names all below it. */
export const keys = {
  info: ["info"] as const,
  agents: ["agents"] as const,
  evaluators: ["evaluators"] as const,
  runs: ["runs"] as const,
  runList: (filters: object) => ["runs", "list", filters] as const,
  runCounts: (filters: object) => ["runs", "counts", filters] as const,
  knownFailures: (project: string) => ["known-failures", project] as const,
  backlog: (project: string) => ["runs", "backlog", project] as const,
  /** Of a run of any kind; what its events put out of date. */
  run: (id: string) => ["run", id] as const,
  loop: (id: string) => ["run", id, "loop"] as const,
  answer: (id: string) => ["run", id, "answer"] as const,
  attempt: (id: string, phase: string, number: number) => ["run", id, "attempt", phase, number] as const,
  diff: (id: string, phase: string, number: number, against: string) =>
    ["run", id, "diff", phase, number, against] as const,
  usage: (id: string) => ["run", id, "usage"] as const,
  result: (id: string) => ["run", id, "result"] as const,
  messages: (id: string) => ["run", id, "messages"] as const,
  runEvents: (id: string) => ["events", id] as const,
  escalations: ["escalations"] as const,
  escalationList: (status: string) => ["escalations", "list", status] as const,
  escalation: (id: string) => ["escalations", "one", id] as const,
};
