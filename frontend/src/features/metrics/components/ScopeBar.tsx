/** Chooses which runs are measured; the URL keeps the choice. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import { KINDS, type RunKind } from "@/lib/kinds";
import { shortNames } from "@/lib/projects";
import { facetsQuery } from "@/lib/queries/metrics";
import type { MetricsSearch } from "@/lib/search";

/** On a phone the label stands above its field, so that all fields have the same edges. */
const FIELD = "flex min-w-0 flex-col gap-x-2 sm:flex-row sm:items-center";
const BOX = "min-h-8 w-full min-w-0 rounded-md border border-line bg-raised px-2 sm:w-auto sm:max-w-64";

interface Props {
  search: MetricsSearch;
  onChange: (part: Partial<MetricsSearch>) => void;
}

export function ScopeBar({ search, onChange }: Props) {
  const facets = useQuery(facetsQuery);
  const projects = facets.data?.projects.map((each) => each.value) ?? [];
  const agents = facets.data?.agents.map((each) => each.value) ?? [];
  return (
    <div className="grid grid-cols-2 gap-3 pb-4 sm:flex sm:flex-wrap" role="group" aria-label="Filters">
      <Choice
        label="Kind"
        value={search.kind ?? ""}
        options={[
          ["", "All kinds"],
          ...Object.entries(KINDS).map(([kind, { word }]) => [kind, `${word}s`] as const),
        ]}
        onChange={(kind) => onChange({ kind: (kind || undefined) as RunKind | undefined })}
      />
      <Choice
        label="Period"
        value={search.days ? String(search.days) : ""}
        options={[
          ["", "All time"],
          ["7", "7 days"],
          ["30", "30 days"],
          ["90", "90 days"],
        ]}
        onChange={(days) =>
          onChange({
            days: days ? (Number(days) as 7 | 30 | 90) : undefined,
            from: undefined,
            to: undefined,
          })
        }
      />
      <Day label="From" value={search.from} onChange={(from) => onChange({ from, days: undefined })} />
      <Day label="To" value={search.to} onChange={(to) => onChange({ to, days: undefined })} />
      <Choice
        label="Project"
        value={search.project ?? ""}
        options={choices("All projects", projects, search.project, shortNames)}
        onChange={(project) => onChange({ project: project || undefined })}
      />
      <Choice
        label="Agent"
        value={search.agent ?? ""}
        options={choices("All agents", agents, search.agent)}
        onChange={(agent) => onChange({ agent: agent || undefined })}
      />
      <label className="flex min-h-8 items-center gap-2">
        <input
          type="checkbox"
          checked={search.rolling === true}
          onChange={(event) => onChange({ rolling: event.target.checked || undefined })}
        />
        Rolling trend
      </label>
    </div>
  );
}

interface DayProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** Browsers give a year with each of its digits: `0002`, `0020`. The URL takes only a whole one. */
const FIRST_DAY = "1000-01-01";

/** A day in UTC. What is being typed is kept here: the URL is slower than the keyboard. */
function Day({ label, value, onChange }: DayProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <label className={FIELD}>
      <span className="text-muted">{label}</span>
      <input
        type="date"
        className={BOX}
        value={typed ?? value ?? ""}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === "") onChange(undefined);
          else if (target.value >= FIRST_DAY) onChange(target.value);
        }}
        onBlur={() => setTyped(null)}
      />
    </label>
  );
}

/** What the URL names is among the choices, also before they are known. */
function choices(
  all: string,
  values: readonly string[],
  chosen: string | undefined,
  name: (values: readonly string[]) => readonly string[] = (each) => each,
): readonly (readonly [string, string])[] {
  const every = chosen && !values.includes(chosen) ? [chosen, ...values] : values;
  const names = name(every);
  return [["", all], ...every.map((each, index) => [each, names[index] ?? each] as const)];
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div className={FIELD}>
      <label htmlFor={id} className="text-muted">
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)} className={BOX}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
