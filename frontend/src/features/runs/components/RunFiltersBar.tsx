/** Filters of the runs table. */
import { useEffect, useRef, useState } from "react";

import { wordOf } from "@/components/StatusBadge";
import type { Schemas } from "@/lib/api/client";
import type { RunStatus } from "@/lib/queries/sprints";
import type { RunsSearch } from "@/lib/search";

const STATUSES: readonly RunStatus[] = ["queued", "active", "waiting", "completed", "failed", "cancelled"];
const SORTS = { newest: "Newest first", oldest: "Oldest first", updated: "Last changed", cost: "Most costly", tokens: "Most tokens" };
const TYPING_MS = 250;
const FIELD = "min-h-8 rounded-md border border-line bg-raised px-2";

interface Props {
  search: RunsSearch;
  counts: Schemas["RunCounts"] | undefined;
  onChange: (part: Partial<RunsSearch>) => void;
}

export function RunFiltersBar({ search, counts, onChange }: Props) {
  const chosen = search.status ?? [];

  function toggle(status: RunStatus): void {
    const next = chosen.includes(status) ? chosen.filter((each) => each !== status) : [...chosen, status];
    onChange({ status: next.length > 0 ? next : undefined });
  }

  return (
    <div className="flex flex-wrap items-center gap-2 pb-3">
      <SearchField value={search.q ?? ""} onChange={(q) => onChange({ q: q || undefined })} />
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Status</legend>
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            aria-pressed={chosen.includes(status)}
            className="min-h-8 rounded-md border border-line px-2 aria-pressed:border-accent aria-pressed:bg-accent aria-pressed:text-on-accent"
            onClick={() => toggle(status)}
          >
            {wordOf(status)}
            {counts && <span className="ml-1.5 opacity-90">{counts.by_status[status] ?? 0}</span>}
          </button>
        ))}
      </fieldset>
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
