/** Narrows the inbox; the address keeps the choice. */
import { useQuery } from "@tanstack/react-query";

import { KINDS, type RunKind } from "@/lib/kinds";
import { shortNames } from "@/lib/projects";
import { facetsQuery } from "@/lib/queries/metrics";
import { REASONS } from "@/lib/reasons";
import type { EscalationsSearch } from "@/lib/search";

interface Props {
  search: EscalationsSearch;
  onChange: (part: Partial<EscalationsSearch>) => void;
}

const AGES = [
  ["", "Any age"],
  ["1", "Older than an hour"],
  ["24", "Older than a day"],
  ["168", "Older than a week"],
] as const;
const WHO = [
  ["", "All reviewers"],
  ["me", "Mine"],
  ["none", "Not taken"],
] as const;
const BOX = "min-h-8 w-full min-w-0 rounded-md border border-line bg-raised px-2 sm:w-auto sm:max-w-64";

export function InboxFilters({ search, onChange }: Props) {
  const facets = useQuery(facetsQuery);
  const known = facets.data?.projects.map((each) => each.value) ?? [];
  const { project } = search;
  const projects = project && !known.includes(project) ? [project, ...known] : known;
  const names = shortNames(projects);
  return (
    <div className="grid grid-cols-2 gap-2 pb-3 sm:flex sm:flex-wrap" role="group" aria-label="Filters">
      <Choice
        label="Reason"
        value={search.reason ?? ""}
        options={[["", "Any reason"], ...Object.entries(REASONS)]}
        onChoose={(value) => onChange({ reason: (value || undefined) as EscalationsSearch["reason"] })}
      />
      <Choice
        label="Kind"
        value={search.kind ?? ""}
        options={[
          ["", "Any kind"],
          ...Object.entries(KINDS).map(([kind, { word }]) => [kind, word] as const),
        ]}
        onChoose={(value) => onChange({ kind: (value || undefined) as RunKind | undefined })}
      />
      <Choice
        label="Project"
        value={project ?? ""}
        options={[
          ["", "Any project"],
          ...projects.map((each, index) => [each, names[index] ?? each] as const),
        ]}
        onChoose={(value) => onChange({ project: value || undefined })}
      />
      <Choice
        label="Age"
        value={search.hours ? String(search.hours) : ""}
        options={AGES}
        onChoose={(value) => onChange({ hours: value ? (Number(value) as 1 | 24 | 168) : undefined })}
      />
      <Choice
        label="Reviewer"
        value={search.who ?? ""}
        options={WHO}
        onChoose={(value) => onChange({ who: (value || undefined) as EscalationsSearch["who"] })}
      />
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChoose: (value: string) => void;
}

function Choice({ label, value, options, onChoose }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      className={BOX}
      value={value}
      onChange={(event) => onChoose(event.target.value)}
    >
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  );
}
