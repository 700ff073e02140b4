/** What took the time of an attempt: its tool calls, model requests and evaluators. Each leads to its line. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { formatClock, formatDuration, plural } from "@/lib/format";
import { usePartsOf } from "@/lib/queries/events";
import { modelRequestsQuery } from "@/lib/queries/runs";
import { type Span, type SpanKind, spansOf, withRequests } from "@/lib/spans";
import type { RunEvent } from "@/lib/stream/frames";
import type { RunEvents } from "@/lib/stream/tail";

import { Button } from "./Button";
import { Disclosure } from "./Disclosure";
import { StatusBadge } from "./StatusBadge";
import { UntrustedText } from "./UntrustedText";

interface Props {
  runId: string;
  tail: RunEvents;
  phase: string;
  attempt: number;
  /** The attempt has ended. */
  isOver: boolean;
}

const FIRST = 100;
const LOOKS: Record<SpanKind, string> = {
  tool: "bg-accent",
  between: "bg-sunken hatched",
  model: "bg-added-tint",
  evaluator: "bg-sunken dotted",
};

export function Spans({ runId, tail, phase, attempt, isOver }: Props) {
  const events = usePartsOf(runId, tail, phase, attempt);
  const spans = useMemo(() => spansOf(events, phase, attempt), [events, phase, attempt]);
  const here = useMemo(
    () => events.filter((each) => each.phase === phase && each.attempt === attempt),
    [events, phase, attempt],
  );
  if (spans.length === 0) return null;
  const tools = spans.filter((each) => each.kind === "tool").length;
  const evaluators = spans.filter((each) => each.kind === "evaluator").length;
  const what = `${plural(tools, "tool call")}, ${plural(evaluators, "evaluator")}`;
  return (
    <Disclosure summary={`Where the time of ${phase} attempt ${attempt} went: ${what}`}>
      {() => (
        <AllRows spans={spans} events={here} query={modelRequestsQuery(runId, phase, attempt, isOver)} />
      )}
    </Disclosure>
  );
}

interface AllProps {
  spans: readonly Span[];
  events: readonly RunEvent[];
  query: ReturnType<typeof modelRequestsQuery>;
}

/** Model requests are asked for when somebody wants to see them. */
function AllRows({ spans, events, query }: AllProps) {
  const { data } = useQuery(query);
  const all = useMemo(() => withRequests(spans, data?.items ?? [], events), [spans, data, events]);
  return (
    <>
      <SpanRows spans={all} />
      {data?.more && <p className="text-muted">Only the first 1,000 model requests are shown.</p>}
    </>
  );
}

function SpanRows({ spans }: { spans: readonly Span[] }) {
  const [isWhole, setIsWhole] = useState(false);
  const from = spans.reduce((least, each) => Math.min(least, each.from), Infinity);
  const to = spans.reduce((most, each) => Math.max(most, each.to), from + 1);
  const shown = isWhole ? spans : spans.slice(0, FIRST);
  const hasSeveral = spans.some((each) => (each.candidate ?? 0) > 0);
  return (
    <>
      <ol aria-label="Parts of the attempt" className="flex flex-col">
        {shown.map((each, index) => (
          <SpanRow
            // Two requests may begin at the same moment.
            key={`${index} ${each.kind} ${each.line}`}
            span={each}
            from={from}
            took={to - from}
            number={hasSeveral && each.candidate !== null ? `#${each.candidate + 1} ` : ""}
          />
        ))}
      </ol>
      {shown.length < spans.length && (
        <Button onClick={() => setIsWhole(true)}>
          Show {plural(spans.length - shown.length, "more part")}
        </Button>
      )}
    </>
  );
}

interface RowProps {
  span: Span;
  from: number;
  took: number;
  /** Of the candidate, as its tab has it; empty where there is one only. */
  number: string;
}

function SpanRow({ span, from, took, number }: RowProps) {
  const left = ((span.from - from) / took) * 100;
  const width = ((span.to - span.from) / took) * 100;
  return (
    <li className="grid min-h-7 grid-cols-[minmax(0,12rem)_4.5rem_minmax(0,1fr)] items-center gap-2">
      <Link
        to="."
        search={(before) => ({ ...before, tab: undefined })}
        hash={`L${span.line}`}
        resetScroll={false}
        className="inline-flex min-h-7 min-w-0 items-center gap-1 underline"
        title={`${formatClock(span.from)}, to its line in the log`}
      >
        {span.verdict !== null && <StatusBadge status={span.verdict} compact />}
        <span className="truncate">
          {number}
          <UntrustedText text={span.name} />
        </span>
      </Link>
      <span className="text-right text-muted tabular-nums">{formatDuration(span.to - span.from)}</span>
      <span aria-hidden className="relative h-3 overflow-hidden rounded-sm">
        <span
          className={`absolute h-3 min-w-1 rounded-sm border border-line ${LOOKS[span.kind]}`}
          style={{ left: `${Math.min(left, 99)}%`, width: `${width}%` }}
        />
      </span>
    </li>
  );
}
