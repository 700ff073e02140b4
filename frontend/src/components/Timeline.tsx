/** When agents worked, evaluators judged and people were asked; waiting is compressed. */
import { Link } from "@tanstack/react-router";
import {
  Bot,
  CirclePause,
  Gavel,
  Hourglass,
  type LucideIcon,
  UserRound,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import { useMemo, useState } from "react";

import { formatClock, formatDuration, formatMoment, isSameDay } from "@/lib/format";
import { useNow } from "@/lib/now";
import { buildTimeline, type Course, type Piece, type PieceKind } from "@/lib/timeline";

import { Button } from "./Button";
import { StatusBadge } from "./StatusBadge";

const MOST_ZOOM = 16;
const PHASES = ["discovery", "coding", "verification"] as const;

const KINDS: Record<PieceKind, { word: string; icon: LucideIcon; look: string }> = {
  working: { word: "Agent working", icon: Bot, look: "bg-accent" },
  evaluating: { word: "Evaluation", icon: Gavel, look: "bg-sunken dotted" },
  waiting: { word: "Waiting for a person", icon: UserRound, look: "bg-waiting-chip hatched" },
  paused: { word: "Paused", icon: CirclePause, look: "bg-sunken hatched" },
  idle: { word: "Idle", icon: Hourglass, look: "hatched" },
};

export function Timeline({ course }: { course: Course }) {
  const isOver = course.finished_at !== null;
  const now = useNow();
  const until = isOver ? 0 : now;
  const pieces = useMemo(() => buildTimeline(course, until), [course, until]);
  const [zoom, setZoom] = useState(1);
  const first = pieces[0];
  const last = pieces.at(-1);
  if (!first || !last) return <p className="text-muted">No attempts yet. The run waits for a worker.</p>;
  const moment = isSameDay(first.from, last.to) ? formatClock : formatMoment;
  const kinds = (Object.keys(KINDS) as PieceKind[]).filter((kind) =>
    pieces.some((each) => each.kind === kind),
  );
  return (
    <figure className="m-0">
      <div className="overflow-x-auto rounded-md border border-line">
        <ol
          className="relative flex h-7 min-w-min gap-px"
          style={{ width: `${zoom * 100}%` }}
          aria-label="Timeline"
        >
          {pieces.map((piece) => (
            <PieceBar key={`${piece.kind} ${piece.from}`} piece={piece} />
          ))}
        </ol>
      </div>
      <figcaption className="mt-1 flex flex-wrap items-center gap-x-4 text-muted">
        <span>{moment(first.from)}</span>
        {kinds.map((kind) => {
          const { icon: Icon, word, look } = KINDS[kind];
          return (
            <span key={kind} className="inline-flex items-center gap-1.5">
              <span aria-hidden className={`inline-block h-3 w-4 rounded-sm border border-line ${look}`} />
              <Icon aria-hidden size={14} />
              {word}
            </span>
          );
        })}
        <span className="ml-auto inline-flex items-center">
          <Button
            weight="quiet"
            aria-label="Zoom out of the timeline"
            disabled={zoom === 1}
            onClick={() => setZoom(zoom / 2)}
          >
            <ZoomOut aria-hidden size={16} />
          </Button>
          <Button
            weight="quiet"
            aria-label="Zoom into the timeline"
            disabled={zoom === MOST_ZOOM}
            onClick={() => setZoom(zoom * 2)}
          >
            <ZoomIn aria-hidden size={16} />
          </Button>
        </span>
        <span>{isOver ? moment(last.to) : "now"}</span>
      </figcaption>
    </figure>
  );
}

function PieceBar({ piece }: { piece: Piece }) {
  const { word, look } = KINDS[piece.kind];
  const where = piece.attempt === null ? "" : `, ${piece.phase} attempt ${piece.attempt}`;
  const verdict = piece.kind === "evaluating" ? piece.verdict : null;
  const told = `${word}${where}: ${formatDuration(piece.to - piece.from)}${piece.open ? " so far" : ""}`;
  const title = verdict === null ? told : `${told}, ${verdict}`;
  const shape = "flex h-full w-full items-center justify-end overflow-hidden";
  const content = (
    <>
      <span className="sr-only">{told}</span>
      {verdict !== null && (
        <span className="rounded-sm bg-canvas px-0.5">
          <StatusBadge status={verdict} compact />
        </span>
      )}
    </>
  );
  return (
    <li
      className={`relative min-w-7 ${look} ${piece.open ? "going-on" : ""}`}
      style={{ width: `${piece.width * 100}%` }}
      title={title}
    >
      {piece.attempt === null ? (
        <span className={shape}>{content}</span>
      ) : (
        <Link
          to="."
          search={(before) => ({
            ...before,
            phase: PHASES.find((each) => each === piece.phase),
            attempt: piece.attempt ?? undefined,
            evaluator: undefined,
            candidate: undefined,
            tab: undefined,
          })}
          hash=""
          resetScroll={false}
          className={`${shape} no-underline -outline-offset-2!`}
        >
          {content}
        </Link>
      )}
    </li>
  );
}
