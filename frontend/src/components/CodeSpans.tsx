/** A text in which what stands between backticks looks like code. Nothing else is taken for markup. */
import { visible } from "@/lib/text/visible";

/** Runs of backticks close with as many of them, on the same line. */
const SPAN = /(?<!`)(`+)(?!`)([^\n]*?[^`\n])\1(?!`)/g;

export function hasCode(text: string): boolean {
  return text.search(SPAN) >= 0;
}

export function CodeSpans({ text }: { text: string }) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(SPAN)) {
    parts.push(
      visible(text.slice(at, found.index)),
      <code key={found.index} className="rounded-sm bg-sunken px-1">
        {visible(found[2] ?? "")}
      </code>,
    );
    at = found.index + found[0].length;
  }
  return [...parts, visible(text.slice(at))];
}
