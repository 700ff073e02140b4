/** Reads terminal colours (SGR); every other escape sequence is taken out. Gives data, never markup. Pure. */
import { visible } from "./visible";

export interface Style {
  readonly colour: string | null;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
}

export interface Span {
  readonly text: string;
  readonly style: Style;
}

export const PLAIN: Style = { colour: null, bold: false, italic: false, underline: false };

/** Names of the page's own colours, which can be read in both themes; backgrounds are not taken over. */
const COLOURS = [
  "muted",
  "failed",
  "ansi-green",
  "ansi-yellow",
  "passed",
  "errored",
  "ansi-cyan",
  "ink",
] as const;

const ESCAPE =
  // CSI with its final byte; OSC, DCS and other strings up to their end or that of the line; two-character escapes.
  // oxlint-disable-next-line no-control-regex
  /\u001B\[([\d;:?<=>]*)[ -/]*([@-~])|\u001B[\]PX^_][^\u0007\u001B\n]*(?:\u0007|\u001B\\)?|\u001B[ -/]*[0-~]?/g;

/** Cut one line into spans. Lines do not carry colours on: each begins plain. */
export function parseAnsi(line: string): readonly Span[] {
  const spans: Span[] = [];
  const text = line.replace(/\r+$/, "");
  let style = PLAIN;
  let at = 0;
  for (const found of text.matchAll(ESCAPE)) {
    push(spans, text.slice(at, found.index), style);
    if (found[2] === "m") style = applySgr(style, found[1] ?? "");
    at = found.index + found[0].length;
  }
  push(spans, text.slice(at), style);
  return spans;
}

/** A line without any escape sequence, with hidden characters made visible. */
export function plainText(line: string): string {
  return visible(line.replace(ESCAPE, ""));
}

/** `plainText` of each line. */
export function plainLines(text: string): string {
  return text.split("\n").map(plainText).join("\n");
}

function push(spans: Span[], text: string, style: Style): void {
  if (text) spans.push({ text: visible(text), style });
}

function applySgr(before: Style, parameters: string): Style {
  let style = before;
  const codes = parameters.split(/[;:]/).map((each) => Number.parseInt(each || "0", 10));
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      // Colours of larger tables are not taken over; their parameters are stepped over.
      at += codes[at + 1] === 5 ? 2 : 4;
      continue;
    }
    style = applyCode(style, code);
  }
  return style;
}

const CODES: Readonly<Record<number, Partial<Style>>> = {
  0: PLAIN,
  1: { bold: true },
  3: { italic: true },
  4: { underline: true },
  22: { bold: false },
  23: { italic: false },
  24: { underline: false },
  39: { colour: null },
};

function applyCode(style: Style, code: number): Style {
  const bright = code >= 90 && code <= 97;
  if (bright || (code >= 30 && code <= 37)) return { ...style, colour: COLOURS[code % 10] ?? null };
  return { ...style, ...CODES[code] };
}
