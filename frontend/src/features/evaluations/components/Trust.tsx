/** What else is known of an evaluator: its calibrations, and what it saw while it was observed. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { Button } from "@/components/Button";
import { RelativeTime } from "@/components/RelativeTime";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { formatCount, formatMoment, plural } from "@/lib/format";
import {
  type Calibration,
  calibrationsQuery,
  observedQuery,
  type Share,
  type WouldBlock,
} from "@/lib/queries/metrics";
import { formatCases, formatInterval, formatShare } from "@/lib/shares";

const SHOWN = 10;
const EVERYTHING = {};

export function Trust({ name }: { name: string }) {
  const calibrations = useQuery(calibrationsQuery).data ?? [];
  const observed = useQuery(observedQuery(EVERYTHING)).data;
  const gate = observed?.gates.find((each) => each.evaluator === name);
  const blocked = observed?.would_block.filter((each) => each.evaluator === name) ?? [];
  return (
    <>
      {calibrations.map((each) => (
        <Calibrated key={each.corpus} name={name} calibration={each} />
      ))}
      {gate && (
        <section aria-labelledby="observed" className="flex flex-col gap-2 pt-6" data-observed={name}>
          <h2 id="observed" className="font-semibold">
            While it was observed
          </h2>
          <p>
            Since {formatMoment(gate.first_at)}: {plural(gate.verdicts, "verdict")}. It would have blocked{" "}
            {inWords(gate.would_block)}, in {plural(gate.runs, "run")}. Of these, people overruled{" "}
            {inWords(gate.overruled)}, and confirmed {inWords(gate.confirmed)}.
          </p>
          {blocked.length > 0 && <WouldHaveBlocked blocked={blocked} />}
        </section>
      )}
    </>
  );
}

function Calibrated({ name, calibration }: { name: string; calibration: Calibration }) {
  const found = calibration.evaluators.find((each) => each.evaluator === name);
  if (!found) return null;
  return (
    <p className="pt-2" data-calibrated={calibration.corpus}>
      Calibrated on <UntrustedText text={calibration.corpus} /> (<RelativeTime at={calibration.at} />
      {found.version && `, version ${found.version}`}): bad cases that passed {inWords(found.bad_passed)},
      good cases that failed {inWords(found.good_failed)}.
    </p>
  );
}

function WouldHaveBlocked({ blocked }: { blocked: readonly WouldBlock[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? blocked : blocked.slice(0, SHOWN);
  return (
    <>
      <ul aria-label="What it would have blocked" className="card flex flex-col p-1">
        {shown.map((each) => (
          <Blocked key={`${each.run_id} ${each.phase} ${each.attempt}`} one={each} />
        ))}
      </ul>
      {shown.length < blocked.length && (
        <Button className="self-start" onClick={() => setWhole(true)}>
          Show {formatCount(blocked.length - shown.length)} more
        </Button>
      )}
    </>
  );
}

function Blocked({ one }: { one: WouldBlock }) {
  return (
    <li className="flex min-h-8 min-w-0 flex-wrap items-center gap-x-3 px-2">
      <StatusBadge status={one.status} />
      <Link
        to="/sprints/$id"
        params={{ id: one.run_id }}
        search={{ phase: one.phase as "coding", attempt: one.attempt, evaluator: one.evaluator }}
        className="theirs inline-flex min-h-7 items-center underline"
      >
        <UntrustedText text={one.run_name} />
      </Link>
      <span className="text-muted">
        {one.phase} attempt {one.attempt}
        {one.word !== "none" && `, ${one.word}`}
      </span>
    </li>
  );
}

const inWords = (share: Share): string =>
  share.value === null
    ? "none of 0"
    : `${formatShare(share.value)} (${formatCases(share)}, 95 % interval ${formatInterval(share)})`;
