/** The beginning of a long text, in whole lines. Pure. */

/** Lines of a long text that are shown at first. */
export const MOST_LINES = 20;
/** Hiding fewer lines than this saves no room: the button takes some, too. */
const FEW_LINES = 6;
const MOST_CHARS = 4_000;

/** What is shown of a long text at first; null for a text that is short enough to be shown whole. */
export function beginningOf(text: string, most = MOST_LINES): string | null {
  const lines = text.split("\n");
  if (lines.length <= most + FEW_LINES && text.length <= MOST_CHARS) return null;
  const first = lines.slice(0, most).join("\n");
  if (first.length <= MOST_CHARS) return first;
  // The last line that fits; a single line above the limit is cut.
  const end = first.lastIndexOf("\n", MOST_CHARS);
  return first.slice(0, end > 0 ? end : MOST_CHARS);
}
