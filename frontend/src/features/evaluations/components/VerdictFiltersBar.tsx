/** Chooses which verdicts are listed; the URL keeps the choice. */
import type { VerdictsSearch } from "@/lib/search";

interface Props {
  search: VerdictsSearch;
  onChange: (part: Partial<VerdictsSearch>) => void;
}

const STATUSES = [
  ["", "Any verdict"],
  ["passed", "passed"],
  ["failed", "failed"],
  ["errored", "errored"],
  ["skipped", "skipped"],
] as const;
const MARKS = [
  ["", "Marked or unmarked"],
  ["any", "marked"],
  ["none", "unmarked"],
  ["right", "marked right"],
  ["wrong_pass", "wrong passes"],
  ["wrong_fail", "wrong fails"],
] as const;

const BOX = "min-h-8 rounded-md border border-line bg-raised px-2";

export function VerdictFiltersBar({ search, onChange }: Props) {
  return (
    <div className="flex flex-wrap gap-3 pb-3">
      <select
        aria-label="Verdict"
        className={BOX}
        value={search.status ?? ""}
        onChange={(event) =>
          onChange({ status: (event.target.value || undefined) as VerdictsSearch["status"] })
        }
      >
        {STATUSES.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <select
        aria-label="Mark"
        className={BOX}
        value={search.mark ?? ""}
        onChange={(event) => onChange({ mark: (event.target.value || undefined) as VerdictsSearch["mark"] })}
      >
        {MARKS.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
