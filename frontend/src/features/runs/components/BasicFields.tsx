/** What is to be done, on which files, in which phases. */
import type { Phase } from "@/lib/queries/runs";

import { PHASES, type StartFields } from "../start-form";
import type { FieldsProps } from "../fields-props";
import { Field } from "./Field";

const SOURCES: readonly { value: StartFields["sourceKind"]; label: string }[] = [
  { value: "local", label: "Local repository" },
  { value: "git", label: "Git URL" },
  { value: "archive", label: "Upload" },
  { value: "empty", label: "New project" },
];

export function BasicFields({ fields, change, errorOf }: FieldsProps) {
  function togglePhase(phase: Phase): void {
    const has = fields.phases.includes(phase);
    change({ phases: has ? fields.phases.filter((each) => each !== phase) : [...fields.phases, phase] });
  }

  return (
    <section className="card flex flex-col gap-4 p-4" aria-label="Task">
      <Field
        label="Goal"
        hint="What to achieve, in your words. Say how to tell that it is done."
        error={errorOf("goal")}
      >
        <textarea
          rows={4}
          required
          value={fields.goal}
          onChange={(event) => change({ goal: event.target.value })}
        />
      </Field>
      <Field label="Name" hint="Shown in lists. By default made from the goal." error={errorOf("name")}>
        <input value={fields.name} onChange={(event) => change({ name: event.target.value })} />
      </Field>
      <fieldset className="flex flex-col gap-2">
        <legend className="font-medium">Files</legend>
        <div className="flex flex-wrap gap-4">
          {SOURCES.map((each) => (
            <label key={each.value} className="flex min-h-8 items-center gap-2">
              <input
                type="radio"
                name="source"
                checked={fields.sourceKind === each.value}
                onChange={() => change({ sourceKind: each.value })}
              />
              {each.label}
            </label>
          ))}
        </div>
        <SourceFields fields={fields} change={change} errorOf={errorOf} />
      </fieldset>
      <fieldset>
        <legend className="font-medium">Phases</legend>
        <div className="flex flex-wrap gap-4">
          {PHASES.map((phase) => (
            <label key={phase} className="flex min-h-8 items-center gap-2 capitalize">
              <input
                type="checkbox"
                checked={fields.phases.includes(phase)}
                onChange={() => togglePhase(phase)}
              />
              {phase}
            </label>
          ))}
        </div>
        {errorOf("phases") && (
          <p role="alert" className="text-failed" data-field-error>
            {errorOf("phases")}
          </p>
        )}
      </fieldset>
    </section>
  );
}

function SourceFields({ fields, change, errorOf }: FieldsProps) {
  if (fields.sourceKind === "empty")
    return <p className="text-muted">The agent starts in an empty directory.</p>;
  if (fields.sourceKind === "archive")
    return <ArchiveFields fields={fields} change={change} errorOf={errorOf} />;
  const ref = (
    <Field
      label="Branch, tag or commit"
      hint="By default HEAD or the default branch."
      error={errorOf("source.ref")}
    >
      <input value={fields.ref} onChange={(event) => change({ ref: event.target.value })} />
    </Field>
  );
  return (
    <div className="grid gap-3 md:grid-cols-2">
      {fields.sourceKind === "local" ? (
        <Field
          label="Path"
          hint="An absolute path on the service's machine."
          error={errorOf("source.path") || errorOf("source")}
        >
          <input
            value={fields.path}
            placeholder="/home/me/project"
            onChange={(event) => change({ path: event.target.value })}
          />
        </Field>
      ) : (
        <Field label="URL" error={errorOf("source.url") || errorOf("source")}>
          <input
            value={fields.url}
            placeholder="ssh://git@host/project.git"
            onChange={(event) => change({ url: event.target.value })}
          />
        </Field>
      )}
      {ref}
    </div>
  );
}

function ArchiveFields({ fields, change, errorOf }: FieldsProps) {
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
        hint="tar, tar.gz, tar.bz2, tar.xz or zip"
        error={errorOf("source.data") || errorOf("source")}
      >
        <input type="file" onChange={(event) => read(event.target.files?.[0])} />
      </Field>
      <label className="flex min-h-8 items-center gap-2">
        <input
          type="checkbox"
          checked={fields.stripTopLevel}
          onChange={(event) => change({ stripTopLevel: event.target.checked })}
        />
        The archive's only top-level directory is the project
      </label>
    </div>
  );
}
