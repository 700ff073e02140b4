/** Where a run's files come from, as a form asks for it and as a request says it. Pure. */
import { compact } from "./compact";

export interface SourceValues {
  readonly sourceKind: "local" | "git" | "empty" | "archive";
  readonly path: string;
  readonly url: string;
  readonly ref: string;
  readonly credential: string;
  readonly archive: { name: string; base64: string } | null;
  readonly stripTopLevel: boolean;
}

export const NO_SOURCE: SourceValues = {
  sourceKind: "empty",
  path: "",
  url: "",
  ref: "",
  credential: "",
  archive: null,
  stripTopLevel: false,
};

export function sourceOf(values: SourceValues): object {
  const ref = values.ref.trim() || undefined;
  switch (values.sourceKind) {
    case "local":
      return compact({ kind: "local", path: values.path.trim(), ref });
    case "git":
      return compact({
        kind: "git",
        url: values.url.trim(),
        ref,
        credential: values.credential.trim() || undefined,
      });
    case "archive":
      return compact({
        kind: "archive",
        data: values.archive?.base64,
        strip_top_level: values.stripTopLevel || undefined,
      });
    case "empty":
      return { kind: "empty" };
  }
}

/** The repository as `--repo` takes it; null for an upload, which the command line does not take. */
export function repoOptions(values: SourceValues): readonly (readonly [string, string])[] | null {
  if (values.sourceKind === "archive") return null;
  return [
    ["--repo", { local: values.path, git: values.url, empty: "" }[values.sourceKind]],
    ["--ref", values.sourceKind === "empty" ? "" : values.ref],
    ["--credential", values.sourceKind === "git" ? values.credential.trim() : ""],
  ];
}

export interface Repository {
  readonly sourceKind: "local" | "git";
  readonly place: string;
}

const REMOTE = /^(?:[a-z][a-z0-9+.-]*:\/\/|[\w.-]+@[\w.-]+:)/i;
const MOST = 6;

/** The repositories of earlier runs, each once, the latest first. New projects and uploads have none. */
export function repositoriesOf(runs: readonly { readonly project: string }[]): readonly Repository[] {
  const found: Repository[] = [];
  for (const place of new Set(runs.map((each) => each.project))) {
    if (place.startsWith("/")) found.push({ sourceKind: "local", place });
    else if (REMOTE.test(place)) found.push({ sourceKind: "git", place });
  }
  return found.slice(0, MOST);
}
