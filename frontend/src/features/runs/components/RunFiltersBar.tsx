/** Filters of the runs table. */
import { useEffect, useRef, useState } from "react";

import { wordOf } from "@/components/StatusBadge";
import type { Schemas } from "@/lib/api/client";
import { KINDS, type RunKind } from "@/lib/kinds";
import type { RunStatus } from "@/lib/queries/runs";
import type { RunsSearch } from "@/lib/search";

import { ColumnChoice } from "./ColumnChoice";

const RUN_KINDS: readonly RunKind[] = ["sprint", "director_loop", "answer"];
type State = RunStatus | "paused";

const STATES: readonly State[] = [
  "queued",
  "active",
  "paused",
  "waiting",
  "completed",
  "failed",
  "cancelled",
];
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
  /** How many runs have each state. */
  counts: Schemas["RunCounts"] | undefined;
  byKind: Schemas["RunCounts"]["by_kind"] | undefined;
  onChange: (part: Partial<RunsSearch>) => void;
}

export function RunFiltersBar({ search, counts, byKind, onChange }: Props) {
  return (
    <div className="flex flex-wrap items-center gap-2 pb-3">
      <SearchField value={search.q ?? ""} onChange={(q) => onChange({ q: q || undefined })} />
      <label className="ml-auto flex items-center gap-2 xl:order-last">
        <span className="sr-only">Order</span>
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
      <ColumnChoice columns={search.columns} onChange={(columns) => onChange({ columns })} />
      {/* Below xl the choices have a separate line. */}
      <span aria-hidden className="basis-full max-sm:hidden xl:hidden" />
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
        all={STATES}
        word={wordOf}
        chosen={search.paused ? ["paused"] : search.status}
        counts={counts && statesOf(counts)}
        onChoose={(states) => onChange(stateFilter(states, search.paused === true))}
      />
    </div>
  );
}

/** A paused run counts as paused, and not as what it continues with. */
function statesOf(counts: Schemas["RunCounts"]): Partial<Record<State, number>> {
  const going = Object.entries(counts.by_status).map(([status, count]) => [
    status,
    count - (counts.paused_by_status[status] ?? 0),
  ]);
  return { ...(Object.fromEntries(going) as Partial<Record<State, number>>), paused: counts.paused };
}

/** *Paused* stands alone: it goes across what runs continue with. */
function stateFilter(states: State[] | undefined, wasPaused: boolean): Pick<RunsSearch, "status" | "paused"> {
  if (!wasPaused && states?.includes("paused")) return { status: undefined, paused: true };
  const rest = states?.filter((each) => each !== "paused");
  return { status: rest?.length ? rest : undefined, paused: undefined };
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
    <fieldset className="flex flex-wrap gap-1 sm:gap-0">
      <legend className="sr-only">{label}</legend>
      {all.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={chosen?.includes(each) ?? false}
          className={[
            "min-h-8 border border-line px-2 hover:bg-sunken aria-pressed:border-accent",
            "aria-pressed:bg-accent aria-pressed:text-on-accent",
            // One bar from 640 px on, where they fit on a line.
            "max-sm:rounded-md sm:first-of-type:rounded-l-md sm:last-of-type:rounded-r-md sm:not-first-of-type:-ml-px",
          ].join(" ")}
          onClick={() => toggle(each)}
        >
          {word(each)}{" "}
          {counts && (
            <span className="ml-0.5 text-muted in-aria-pressed:text-inherit">{counts[each] ?? 0}</span>
          )}
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
      className={`${FIELD} w-56 max-sm:min-w-0 max-sm:flex-1`}
      maxLength={200}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
