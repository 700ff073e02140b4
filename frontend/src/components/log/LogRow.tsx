/** One line of a log: its name, the number of its event, links to it; its colours are the terminal's. */
import { memo, type ReactNode } from "react";

import { formatClock, formatMoment } from "@/lib/format";
import type { LogLine } from "@/lib/log";
import { parseAnsi, type Span } from "@/lib/text/ansi";

interface Props {
  line: LogLine;
  words: string;
  isCurrent: boolean;
  isNamed: boolean;
  isFolded: boolean;
  hasTimes: boolean;
}

const MARKS = { text: "", call: ">", result: "<", note: "" } as const;
const LOOKS = { text: "", call: "text-accent", result: "text-muted", note: "font-semibold" } as const;
const COLOURS: Record<string, string> = {
  muted: "text-muted",
  failed: "text-failed",
  passed: "text-passed",
  errored: "text-errored",
  ink: "text-ink",
  "ansi-green": "text-ansi-green",
  "ansi-yellow": "text-ansi-yellow",
  "ansi-cyan": "text-ansi-cyan",
};
const ADDRESS = /https?:\/\/[^\s<>"'`⟦]+[^\s<>"'`⟦.,;:!?)\]}]/g;

export const LogRow = memo(function LogRow(props: Props) {
  const { line, words, isCurrent, isNamed, isFolded, hasTimes } = props;
  const ground = isNamed || isCurrent ? "bg-highlight" : "";
  return (
    <div className={`flex gap-3 px-2 ${ground}`} data-kind={line.kind}>
      <span
        // Rows are too low for links that fingers could hit; the button below the log does the same.
        data-line={line.id}
        className="min-w-9 shrink-0 sm:w-18 cursor-pointer select-none text-right text-muted hover:underline"
        title={`${formatMoment(line.time)} ${line.phase ?? ""} ${line.attempt ?? ""}`}
      >
        {nameOf(line)}
      </span>
      {hasTimes && <span className="shrink-0 text-muted">{formatClock(line.time)}</span>}
      {line.opens ? (
        <span
          // Like the number. Keys choose the section and fold it.
          data-fold={line.id}
          data-folded={isFolded}
          className="w-2 shrink-0 cursor-pointer text-muted select-none"
          title={isFolded ? "Unfold" : "Fold"}
        >
          {isFolded ? "▸" : "▾"}
        </span>
      ) : (
        <span aria-hidden className="w-2 shrink-0 text-muted">
          {MARKS[line.kind]}
        </span>
      )}
      {line.candidate > 0 && <span className="shrink-0 text-muted">#{line.candidate + 1}</span>}
      <span className={`theirs min-w-40 flex-1 ${LOOKS[line.kind]}`}>
        {parseAnsi(line.text).map((span, index) => (
          <Styled key={index} span={span} words={words} isPlain={isNamed || isCurrent} />
        ))}
      </span>
    </div>
  );
});

/** `12` for the first line of event 12, then `12.1`: as addresses name them. */
const nameOf = (line: LogLine) => (line.id.endsWith(".0") ? line.id.slice(0, -2) : line.id);

function Styled({ span, words, isPlain }: { span: Span; words: string; isPlain: boolean }) {
  const { colour, bold, italic, underline } = span.style;
  const look = [
    colour && !isPlain ? COLOURS[colour] : "",
    bold ? "font-bold" : "",
    italic ? "italic" : "",
    underline ? "underline" : "",
  ];
  return (
    <span className={look.filter(Boolean).join(" ")}>
      {words ? marked(span.text, words) : linked(span.text)}
    </span>
  );
}

function marked(text: string, words: string): ReactNode {
  const parts: ReactNode[] = [];
  const lower = text.toLowerCase();
  const wanted = words.toLowerCase();
  // Lower case may have another length; then nothing is marked rather than something wrong.
  if (lower.length !== text.length) return text;
  let at = 0;
  for (let found = lower.indexOf(wanted); found >= 0; found = lower.indexOf(wanted, at)) {
    parts.push(text.slice(at, found), <mark key={found}>{text.slice(found, found + wanted.length)}</mark>);
    at = found + wanted.length;
  }
  return [...parts, text.slice(at)];
}

function linked(text: string): ReactNode {
  const found = [...text.matchAll(ADDRESS)];
  if (found.length === 0) return text;
  let at = 0;
  const parts: ReactNode[] = [];
  for (const each of found) {
    parts.push(
      text.slice(at, each.index),
      <a
        key={each.index}
        href={each[0]}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="underline"
      >
        {each[0]}
      </a>,
    );
    at = each.index + each[0].length;
  }
  return [...parts, text.slice(at)];
}
