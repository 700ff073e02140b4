/** How shares develop: lines with their intervals, gaps where nothing was measured, and the same as a table. */
import { type RefObject, useLayoutEffect, useRef, useState } from "react";

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

/** All in CSS pixels; as wide as there is room, so that its text is as large as any other. */
const HEIGHT = 160;
const LEFT = 48;
const RIGHT = 12;
const LEAST_WIDTH = 120;
/** Lines stand beside each other: equal values would hide all but one. */
const BESIDE = 5;
const LOOKS = {
  solid: { stroke: "var(--passed)", dash: undefined, mark: "M0-4A4 4 0 1 1 0 4A4 4 0 1 1 0-4" },
  dashed: { stroke: "var(--accent)", dash: "6 4", mark: "M-3.5-3.5H3.5V3.5H-3.5Z" },
  dotted: { stroke: "var(--failed)", dash: "2 4", mark: "M0-5L4.5 3.5H-4.5Z" },
} as const;

export function TrendChart({ title, starts, lines }: Props) {
  const figure = useRef<HTMLElement>(null);
  const width = useWidth(figure);
  return (
    <figure ref={figure} className="card flex flex-col gap-2 p-3">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="font-semibold">{title}</span>
        {lines.map((line) => (
          <span key={line.name} className="inline-flex items-center gap-1.5">
            <svg aria-hidden width="36" height="12" viewBox="0 -6 36 12">
              <line
                x1="0"
                y1="0"
                x2="36"
                y2="0"
                stroke={LOOKS[line.look].stroke}
                strokeWidth="2"
                strokeDasharray={LOOKS[line.look].dash}
              />
              <path d={LOOKS[line.look].mark} transform="translate(18 0)" fill={LOOKS[line.look].stroke} />
            </svg>
            {line.name}
          </span>
        ))}
      </figcaption>
      <svg
        role="img"
        aria-label={`${title}; the table below has the figures`}
        viewBox={`${-LEFT} -10 ${width + LEFT + RIGHT} ${HEIGHT + 34}`}
        width={width + LEFT + RIGHT}
        height={HEIGHT + 34}
        className="max-w-full"
      >
        {[0, 0.5, 1].map((value) => (
          <g key={value}>
            <line
              x1="0"
              x2={width}
              y1={HEIGHT - value * HEIGHT}
              y2={HEIGHT - value * HEIGHT}
              stroke="var(--line)"
            />
            <text
              x="-6"
              y={HEIGHT - value * HEIGHT + 4}
              textAnchor="end"
              fontSize="12"
              fill="var(--muted)"
            >{`${value * 100} %`}</text>
          </g>
        ))}
        {starts.length > 0 && (
          <>
            <text
              x={starts.length > 1 ? 0 : width / 2}
              y={HEIGHT + 18}
              textAnchor={starts.length > 1 ? "start" : "middle"}
              fontSize="12"
              fill="var(--muted)"
            >
              {day(starts[0])}
            </text>
            <text x={width} y={HEIGHT + 18} textAnchor="end" fontSize="12" fill="var(--muted)">
              {starts.length > 1 ? day(starts.at(-1)) : ""}
            </text>
          </>
        )}
        {lines.map((line, index) => (
          <Drawn
            key={line.name}
            line={line}
            width={width}
            beside={(index - (lines.length - 1) / 2) * BESIDE}
          />
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
                    return share ? (
                      <ShareCell key={line.name} share={share} />
                    ) : (
                      <td key={line.name}>no data</td>
                    );
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

interface DrawnProps {
  line: Line;
  width: number;
  beside: number;
}

function Drawn({ line, width, beside }: DrawnProps) {
  const { stroke, dash, mark } = LOOKS[line.look];
  const found = places(line.shares, width, HEIGHT);
  const drawn = found.filter((place): place is Place => place !== null);
  return (
    <g data-line={line.name} transform={`translate(${beside} 0)`}>
      {pieces(found).map((piece, index) => (
        <polyline
          key={index}
          points={piece.map((place) => `${place.x},${place.y}`).join(" ")}
          fill="none"
          stroke={stroke}
          strokeWidth="2"
          strokeDasharray={dash}
        />
      ))}
      {drawn.map((place) => (
        <g key={place.x}>
          <line x1={place.x} x2={place.x} y1={place.low} y2={place.high} stroke={stroke} opacity="0.45" />
          <path d={mark} transform={`translate(${place.x} ${place.y})`} fill={stroke} />
        </g>
      ))}
    </g>
  );
}

/** Of the part that is drawn on. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(LEAST_WIDTH);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const measure = () => {
      const { paddingLeft, paddingRight } = getComputedStyle(current);
      const room = current.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      setWidth(Math.max(LEAST_WIDTH, Math.floor(room) - LEFT - RIGHT));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

function day(time: string | undefined): string {
  return time === undefined ? "" : time.slice(0, 10);
}
