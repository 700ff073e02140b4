/** Which files a run starts from; repositories of earlier runs are a click away. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useId } from "react";

import { shortNames } from "@/lib/projects";
import { runsQuery } from "@/lib/queries/runs";
import { visible } from "@/lib/text/visible";

import { type Repository, repositoriesOf, type SourceValues } from "../source";
import { Field } from "./Field";

const SOURCES: readonly { value: SourceValues["sourceKind"]; label: string }[] = [
  { value: "local", label: "Local repository" },
  { value: "git", label: "Git URL" },
  { value: "archive", label: "Upload" },
  { value: "empty", label: "No files" },
];

interface Props {
  values: SourceValues;
  change: (part: Partial<SourceValues>) => void;
  /** The service's message about a field, such as `source.path`; empty if the field is fine. */
  errorOf: (field: string) => string;
}

export function SourceFields(props: Props) {
  const { values, change } = props;
  const group = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="font-medium">Files</legend>
      <div className="flex flex-wrap gap-4">
        {SOURCES.map((each) => (
          <label key={each.value} className="flex min-h-8 items-center gap-2">
            <input
              type="radio"
              name={group}
              checked={values.sourceKind === each.value}
              onChange={() => change({ sourceKind: each.value })}
            />
            {each.label}
          </label>
        ))}
      </div>
      <Place {...props} />
      <Recent values={values} change={change} />
    </fieldset>
  );
}

/** What earlier runs worked on. */
function Recent({ values, change }: Pick<Props, "values" | "change">) {
  const title = useId();
  const runs = useInfiniteQuery(runsQuery({}));
  const found = repositoriesOf(runs.data?.pages[0]?.items ?? []);
  if (found.length === 0) return null;
  const names = shortNames(found.map((each) => each.place));
  const isChosen = ({ sourceKind, place }: Repository) =>
    values.sourceKind === sourceKind && place === (sourceKind === "local" ? values.path : values.url);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span id={title} className="text-muted">
        Recent
      </span>
      <ul aria-labelledby={title} className="flex min-w-0 flex-wrap gap-2">
        {found.map((each, index) => (
          <li key={each.place} className="min-w-0 max-w-full">
            <button
              type="button"
              aria-pressed={isChosen(each)}
              title={visible(each.place)}
              className={[
                "mono block min-h-7 max-w-full truncate rounded-md border border-line px-2",
                "hover:bg-sunken aria-pressed:border-accent aria-pressed:font-semibold",
              ].join(" ")}
              onClick={() =>
                change({
                  sourceKind: each.sourceKind,
                  ...(each.sourceKind === "local" ? { path: each.place } : { url: each.place }),
                })
              }
            >
              {visible(names[index] ?? each.place)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Place({ values, change, errorOf }: Props) {
  if (values.sourceKind === "empty") return <p className="text-muted">The run starts without files.</p>;
  if (values.sourceKind === "archive")
    return <ArchiveFields values={values} change={change} errorOf={errorOf} />;
  const ref = (
    <Field
      label="Branch, tag or commit"
      hint="By default HEAD or the default branch."
      error={errorOf("source.ref")}
    >
      <input value={values.ref} onChange={(event) => change({ ref: event.target.value })} />
    </Field>
  );
  return (
    <div className="grid gap-3 md:grid-cols-2">
      {values.sourceKind === "local" ? (
        <Field
          label="Path"
          hint="An absolute path on the service's machine."
          error={errorOf("source.path") || errorOf("source")}
        >
          <input
            value={values.path}
            placeholder="/home/me/project"
            onChange={(event) => change({ path: event.target.value })}
          />
        </Field>
      ) : (
        <Field label="URL" error={errorOf("source.url") || errorOf("source")}>
          <input
            value={values.url}
            placeholder="ssh://git@host/project.git"
            onChange={(event) => change({ url: event.target.value })}
          />
        </Field>
      )}
      {ref}
      {values.sourceKind === "git" && (
        <Field
          label="Credential"
          hint="The name of one in FORGES_FILE, for a private repository."
          error={errorOf("source.credential")}
        >
          <input value={values.credential} onChange={(event) => change({ credential: event.target.value })} />
        </Field>
      )}
    </div>
  );
}

function ArchiveFields({ values, change, errorOf }: Props) {
  function read(file: File | undefined): void {
    if (!file) return change({ archive: null });
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const url = String(reader.result);
      change({ archive: { name: file.name, base64: url.slice(url.indexOf(",") + 1) } });
    });
    reader.readAsDataURL(file);
  }

  return (
    <div className="flex flex-col gap-2">
      <Field
        label="Archive"
        hint={
          values.archive ? `Chosen: ${visible(values.archive.name)}` : "tar, tar.gz, tar.bz2, tar.xz or zip"
        }
        error={errorOf("source.data") || errorOf("source")}
      >
        <input type="file" onChange={(event) => read(event.target.files?.[0])} />
      </Field>
      <label className="flex min-h-8 items-center gap-2">
        <input
          type="checkbox"
          checked={values.stripTopLevel}
          onChange={(event) => change({ stripTopLevel: event.target.checked })}
        />
        The archive's only top-level directory is the project
      </label>
    </div>
  );
}
