/** How shares develop: lines with their intervals, gaps where nothing was measured, and the same as a table. */
import type { MetricShare } from "@/lib/queries/metrics";
import { type Place, pieces, places } from "@/lib/trend";

import { ShareCell } from "./MetricTile";

export interface Line {
  readonly name: string;
  readonly shares: readonly MetricShare[];
  /** Told apart by dashes and marks as well as by colour. */
  readonly look: "solid" | "dashed" | "dotted";
}

interface Props {
  title: string;
  /** The beginning of each step. */
  starts: readonly string[];
  lines: readonly Line[];
}

const WIDTH = 640;
const HEIGHT = 160;
const LOOKS = {
  solid: { stroke: "var(--passed)", dash: undefined },
  dashed: { stroke: "var(--accent)", dash: "6 4" },
  dotted: { stroke: "var(--failed)", dash: "2 4" },
} as const;

export function TrendChart({ title, starts, lines }: Props) {
  return (
    <figure className="card flex flex-col gap-2 p-3">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="font-semibold">{title}</span>
        {lines.map((line) => (
          <span key={line.name} className="inline-flex items-center gap-1.5">
            <svg aria-hidden width="28" height="8">
              <line x1="0" y1="4" x2="28" y2="4" stroke={LOOKS[line.look].stroke} strokeWidth="2" strokeDasharray={LOOKS[line.look].dash} />
            </svg>
            {line.name}
          </span>
        ))}
      </figcaption>
      <svg role="img" aria-label={`${title}; the table below has the figures`} viewBox={`-44 -10 ${WIDTH + 60} ${HEIGHT + 34}`} className="h-auto w-full max-w-3xl">
        {[0, 0.5, 1].map((value) => (
          <g key={value}>
            <line x1="0" x2={WIDTH} y1={HEIGHT - value * HEIGHT} y2={HEIGHT - value * HEIGHT} stroke="var(--line)" />
            <text x="-6" y={HEIGHT - value * HEIGHT + 4} textAnchor="end" fontSize="12" fill="var(--muted)">{`${value * 100} %`}</text>
          </g>
        ))}
        {starts.length > 0 && (
          <>
            <text x="0" y={HEIGHT + 18} fontSize="12" fill="var(--muted)">{day(starts[0])}</text>
            <text x={WIDTH} y={HEIGHT + 18} textAnchor="end" fontSize="12" fill="var(--muted)">{starts.length > 1 ? day(starts.at(-1)) : ""}</text>
          </>
        )}
        {lines.map((line) => (
          <Drawn key={line.name} line={line} />
        ))}
      </svg>
      <details>
        <summary className="cursor-pointer text-muted">Figures as a table</summary>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <div className="mt-2 overflow-x-auto" role="region" aria-label={`${title}: figures`} tabIndex={0}>
          <table className="table-rows w-full border-collapse">
            <thead>
              <tr>
                <th scope="col">From</th>
                {lines.map((line) => (
                  <th key={line.name} scope="col" className="number">
                    {line.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {starts.map((start, index) => (
                <tr key={start}>
                  <th scope="row">{day(start)}</th>
                  {lines.map((line) => {
                    const share = line.shares[index];
                    return share ? <ShareCell key={line.name} share={share} /> : <td key={line.name}>no data</td>;
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Drawn({ line }: { line: Line }) {
  const { stroke, dash } = LOOKS[line.look];
  const found = places(line.shares, WIDTH, HEIGHT);
  const drawn = found.filter((place): place is Place => place !== null);
  return (
    <g data-line={line.name}>
      {pieces(found).map((piece, index) => (
        <polyline key={index} points={piece.map((place) => `${place.x},${place.y}`).join(" ")} fill="none" stroke={stroke} strokeWidth="2" strokeDasharray={dash} />
      ))}
      {drawn.map((place) => (
        <g key={place.x}>
          <line x1={place.x} x2={place.x} y1={place.low} y2={place.high} stroke={stroke} opacity="0.45" />
          <circle cx={place.x} cy={place.y} r="3" fill={stroke} />
        </g>
      ))}
    </g>
  );
}

function day(time: string | undefined): string {
  return time === undefined ? "" : time.slice(0, 10);
}
