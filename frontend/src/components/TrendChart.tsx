/** How shares develop: lines with their intervals, gaps where nothing was measured, and the same as a table. */
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";

import type { MetricShare } from "@/lib/queries/metrics";
import { formatCases, formatInterval, formatShare, runsBehind } from "@/lib/shares";
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
/** Pixels above and below a point that still belong to it. */
const REACH = 9;
const DAY_PX = 90;
/** Cases from which a mark has its full size. */
const MANY = 30;
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
        {[0, 0.25, 0.5, 0.75, 1].map((value) => (
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
        <Days starts={starts} width={width} />
        {lines.map((line, index) => (
          <Drawn
            key={line.name}
            line={line}
            starts={starts}
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

/** As many days below the chart as have room, the first and the last among them. */
function Days({ starts, width }: { starts: readonly string[]; width: number }) {
  const last = starts.length - 1;
  const every = Math.max(1, Math.ceil(starts.length / Math.max(1, Math.floor(width / DAY_PX))));
  return starts.map((start, index) => {
    if (index !== last && (index % every !== 0 || last - index < every)) return null;
    const anchor = last === 0 ? "middle" : index === 0 ? "start" : index === last ? "end" : "middle";
    const x = last === 0 ? width / 2 : (index / last) * width;
    return (
      <g key={start} data-day>
        <line x1={x} x2={x} y1={HEIGHT} y2={HEIGHT + 4} stroke="var(--line)" />
        <text x={x} y={HEIGHT + 18} textAnchor={anchor} fontSize="12" fill="var(--muted)">
          {day(start)}
        </text>
      </g>
    );
  });
}

interface DrawnProps {
  line: Line;
  starts: readonly string[];
  width: number;
  beside: number;
}

function Drawn({ line, starts, width, beside }: DrawnProps) {
  const { stroke, dash, mark } = LOOKS[line.look];
  const found = places(line.shares, width, HEIGHT);
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
      {found.map((place, index) => {
        const share = line.shares[index];
        return (
          place &&
          share && (
            <Point key={index} place={place} share={share} name={`${line.name}, ${day(starts[index])}`}>
              <path
                d={mark}
                transform={`translate(${place.x} ${place.y}) scale(${sizeOf(share.of)})`}
                fill={stroke}
              />
              <line x1={place.x} x2={place.x} y1={place.low} y2={place.high} stroke={stroke} opacity="0.45" />
            </Point>
          )
        );
      })}
    </g>
  );
}

interface PointProps {
  place: Place;
  share: MetricShare;
  name: string;
  children: ReactNode;
}

/** Says its figures when pointed at and leads to its runs. The table below does the same for the keyboard. */
function Point({ place, share, name, children }: PointProps) {
  const navigate = useNavigate();
  // As wide as lines lie beside each other: none covers the points of another.
  const [top, bottom] = [Math.min(place.high, place.y - REACH), Math.max(place.low, place.y + REACH)];
  return (
    // A picture holds no links: the table below leads to the same runs.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <g
      className="cursor-pointer"
      data-point={name}
      onClick={() => void navigate({ to: "/", search: runsBehind(share.considered) })}
    >
      <title>
        {`${name}: ${formatShare(share.value)}, ${formatCases(share)}, 95 % interval ${formatInterval(share)}`}
      </title>
      <g pointerEvents="none">{children}</g>
      <rect x={place.x - BESIDE / 2} y={top} width={BESIDE} height={bottom - top} fill="transparent" />
    </g>
  );
}

/** Points with few cases are small. */
function sizeOf(cases: number): number {
  return 0.5 + 0.7 * Math.min(1, cases / MANY);
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
