/** Filters of the runs table. */
import { useEffect, useRef, useState } from "react";

import { wordOf } from "@/components/StatusBadge";
import type { Schemas } from "@/lib/api/client";
import { KINDS, type RunKind } from "@/lib/kinds";
import type { RunStatus } from "@/lib/queries/runs";
import type { RunsSearch } from "@/lib/search";

const RUN_KINDS: readonly RunKind[] = ["sprint", "director_loop", "answer"];
const STATUSES: readonly RunStatus[] = ["queued", "active", "waiting", "completed", "failed", "cancelled"];
const SORTS = {
  newest: "Newest first",
  oldest: "Oldest first",
  updated: "Last changed",
  cost: "Most costly",
  tokens: "Most tokens",
};
const TYPING_MS = 250;
const FIELD = "min-h-8 rounded-md border border-line bg-raised px-2";

interface Props {
  search: RunsSearch;
  byStatus: Schemas["RunCounts"]["by_status"] | undefined;
  byKind: Schemas["RunCounts"]["by_kind"] | undefined;
  onChange: (part: Partial<RunsSearch>) => void;
}

export function RunFiltersBar({ search, byStatus, byKind, onChange }: Props) {
  return (
    <div className="flex flex-wrap items-center gap-2 pb-3">
      <SearchField value={search.q ?? ""} onChange={(q) => onChange({ q: q || undefined })} />
      <Choices
        label="Kind"
        all={RUN_KINDS}
        word={(kind) => `${KINDS[kind].word}s`}
        chosen={search.kind}
        counts={byKind}
        onChoose={(kind) => onChange({ kind })}
      />
      <Choices
        label="Status"
        all={STATUSES}
        word={wordOf}
        chosen={search.status}
        counts={byStatus}
        onChoose={(status) => onChange({ status })}
      />
      <label className="ml-auto flex items-center gap-2">
        <span className="text-muted">Order</span>
        <select
          className={FIELD}
          value={search.sort ?? "newest"}
          onChange={(event) => {
            const sort = event.target.value as NonNullable<RunsSearch["sort"]>;
            onChange({ sort: sort === "newest" ? undefined : sort });
          }}
        >
          {Object.entries(SORTS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface ChoicesProps<T extends string> {
  label: string;
  all: readonly T[];
  word: (choice: T) => string;
  chosen: readonly T[] | undefined;
  counts: Partial<Record<T, number>> | undefined;
  onChoose: (chosen: T[] | undefined) => void;
}

/** None of them pressed means all. */
function Choices<T extends string>({ label, all, word, chosen, counts, onChoose }: ChoicesProps<T>) {
  function toggle(choice: T): void {
    const before = chosen ?? [];
    const next = before.includes(choice) ? before.filter((each) => each !== choice) : [...before, choice];
    onChoose(next.length > 0 ? next : undefined);
  }

  return (
    <fieldset className="flex flex-wrap gap-1">
      <legend className="sr-only">{label}</legend>
      {all.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={chosen?.includes(each) ?? false}
          className={[
            "min-h-8 rounded-md border border-line px-2 aria-pressed:border-accent",
            "aria-pressed:bg-accent aria-pressed:text-on-accent",
          ].join(" ")}
          onClick={() => toggle(each)}
        >
          {word(each)}
          {counts && <span className="ml-1.5 opacity-90">{counts[each] ?? 0}</span>}
        </button>
      ))}
    </fieldset>
  );
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);

  // Back and Forward change the URL, and with it the field.
  useEffect(() => {
    if (value !== told.current) {
      told.current = value;
      setTyped(value);
    }
  }, [value]);
  useEffect(() => {
    if (typed === told.current) return undefined;
    const timer = setTimeout(() => {
      told.current = typed;
      onChange(typed);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, onChange]);

  return (
    <input
      type="search"
      aria-label="Search by name, goal or id"
      placeholder="Name, goal or id"
      className={`${FIELD} w-64`}
      maxLength={200}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
