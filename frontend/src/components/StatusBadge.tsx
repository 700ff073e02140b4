/** A state as icon, word and colour, everywhere the same. */
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  CircleX,
  LoaderCircle,
  type LucideIcon,
  RotateCcw,
  TriangleAlert,
  UserRound,
} from "lucide-react";

export type Tone =
  | "passed"
  | "failed"
  | "errored"
  | "skipped"
  | "running"
  | "waiting"
  | "pending"
  | "paused"
  | "cancelled"
  | "again";

const LOOKS: Record<Tone, { icon: LucideIcon; colour: string }> = {
  passed: { icon: CircleCheck, colour: "text-passed" },
  failed: { icon: CircleX, colour: "text-failed" },
  errored: { icon: TriangleAlert, colour: "text-errored" },
  skipped: { icon: CircleSlash, colour: "text-skipped" },
  running: { icon: LoaderCircle, colour: "text-running" },
  waiting: { icon: UserRound, colour: "text-waiting bg-waiting-chip rounded-full px-2" },
  pending: { icon: CircleDashed, colour: "text-muted" },
  paused: { icon: CirclePause, colour: "text-muted" },
  cancelled: { icon: Ban, colour: "text-skipped" },
  again: { icon: RotateCcw, colour: "text-ink" },
};

/** Words of the API, and what they look like. */
const TONES: Record<string, Tone> = {
  passed: "passed",
  completed: "passed",
  resolved: "passed",
  accept: "passed",
  failed: "failed",
  reject: "failed",
  errored: "errored",
  agent_failed: "errored",
  skipped: "skipped",
  withdrawn: "skipped",
  cancelled: "cancelled",
  active: "running",
  started: "running",
  produced: "running",
  evaluating: "running",
  delegated: "running",
  running: "running",
  waiting: "waiting",
  open: "waiting",
  asks: "waiting",
  retry: "again",
  queued: "pending",
  pending: "pending",
  paused: "paused",
};

const WORDS: Record<string, string> = {
  active: "running",
  started: "agent working",
  produced: "waiting for evaluation",
  agent_failed: "agent failed",
  delegated: "waiting for a subtask",
  waiting: "needs a person",
  open: "needs a person",
};

export function toneOf(status: string): Tone {
  return TONES[status] ?? "pending";
}

export function wordOf(status: string): string {
  return WORDS[status] ?? status.replaceAll("_", " ");
}

interface Props {
  /** A status as the API gives it. */
  status: string;
  /** Instead of the status's own word. */
  word?: string;
  /** Only the icon is seen; the word stays for screen readers. */
  compact?: boolean;
}

export function StatusBadge({ status, word, compact = false }: Props) {
  const { icon: Icon, colour } = LOOKS[toneOf(status)];
  const spins = Icon === LoaderCircle;
  return (
    <span
      className={`inline-flex items-center gap-1.5 align-middle whitespace-nowrap font-medium ${colour}`}
      data-status={status}
    >
      <Icon aria-hidden size={16} className={spins ? "spin shrink-0" : "shrink-0"} />
      <span className={compact ? "sr-only" : ""}>{word ?? wordOf(status)}</span>
    </span>
  );
}
