/** Whether the gates can be trusted: the last calibration with its date beside the figures of production. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { CopyLine } from "@/components/CopyLine";
import { ShareCell } from "@/components/MetricTile";
import { PlainShareCell } from "@/components/PlainShare";
import { RelativeTime } from "@/components/RelativeTime";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { formatMoment, plural } from "@/lib/format";
import { type Calibration, calibrationsQuery, type EvaluatorMetrics } from "@/lib/queries/metrics";
import { PANEL, type TrustRow, trustRows } from "@/lib/trust";

import { FigureTable } from "./FigureTable";

const COLUMNS = [
  "Gate",
  "Calibration: bad passed",
  "Calibration: good failed",
  "Marks: wrong passes",
  "Marks: wrong fails",
  "Outcomes: wrong passes",
  "Outcomes: wrong fails",
];
const NOTE = (
  <ul className="list-disc pl-5">
    <li>
      <strong className="font-medium">Calibration:</strong> cases whose right verdict is known. Specificity
      and sensitivity are 1 minus these shares.
    </li>
    <li>
      <strong className="font-medium">Marks:</strong> verdicts that reviewers marked, mostly escalated ones.
    </li>
    <li>
      <strong className="font-medium">Outcomes:</strong> pull requests that ended at least 30 days ago. A pass
      is wrong if people closed or reverted it, a fail if they merged and kept it.
    </li>
  </ul>
);

export function TrustTable({ evaluators }: { evaluators: readonly EvaluatorMetrics[] }) {
  const { data, error } = useQuery(calibrationsQuery);
  const [corpus, setCorpus] = useState<string>();
  const calibrations = data ?? [];
  const calibration = calibrations.find((each) => each.corpus === corpus) ?? calibrations[0];
  return (
    <section aria-label="Trust" className="flex min-w-0 flex-col gap-2" data-trust>
      <FigureTable title="Can the gates be trusted?" note={NOTE} columns={COLUMNS}>
        {trustRows(evaluators, calibration).map((each) => (
          <Row key={each.name} row={each} />
        ))}
      </FigureTable>
      {error && (
        <p role="alert" className="text-failed">
          {explain(error, "load the calibrations").text}
        </p>
      )}
      {data && !calibration && <NoCalibration />}
      {calibration && (
        <div className="flex flex-wrap items-center gap-3">
          {calibrations.length > 1 && (
            <label className="flex items-center gap-2">
              <span className="text-muted">Corpus</span>
              <select
                className="field min-h-8"
                value={calibration.corpus}
                onChange={(event) => setCorpus(event.target.value)}
              >
                {calibrations.map((each) => (
                  <option key={each.corpus}>{each.corpus}</option>
                ))}
              </select>
            </label>
          )}
          <WhichCalibration calibration={calibration} />
        </div>
      )}
    </section>
  );
}

function Row({ row }: { row: TrustRow }) {
  const { name, calibrated, production } = row;
  return (
    <tr data-gate={name}>
      <th scope="row">
        {name === PANEL ? (
          "All gates together"
        ) : (
          <Link to="/evaluators/$name" params={{ name }} className="underline">
            {name}
          </Link>
        )}
      </th>
      <PlainShareCell share={calibrated?.bad_passed} />
      <PlainShareCell share={calibrated?.good_failed} />
      {production ? (
        <>
          <ShareCell share={production.wrong_passes} />
          <ShareCell share={production.wrong_fails} />
          <ShareCell share={production.wrong_passes_by_outcome} />
          <ShareCell share={production.wrong_fails_by_outcome} />
        </>
      ) : (
        <>
          <PlainShareCell share={undefined} />
          <PlainShareCell share={undefined} />
          <PlainShareCell share={undefined} />
          <PlainShareCell share={undefined} />
        </>
      )}
    </tr>
  );
}

function WhichCalibration({ calibration }: { calibration: Calibration }) {
  const { corpus, at, cases, whole, panel } = calibration;
  return (
    <p className="text-muted">
      Last calibration: <UntrustedText text={corpus} />, {plural(cases, "case")}
      {!whole && ", only a part of them or of the gates"}
      {panel.errored.count > 0 && `, ${panel.errored.count} without a verdict`}, {formatMoment(at)} (
      <RelativeTime at={at} />)
    </p>
  );
}

function NoCalibration() {
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">
        No calibration is known. This command measures the gates on cases whose right verdict is known, and
        keeps the figures for this page:
      </p>
      <CopyLine label="Calibrate" text="phaserunner evaluators calibrate attacks --keep" />
    </div>
  );
}
