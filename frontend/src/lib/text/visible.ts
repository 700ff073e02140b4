/** Makes characters visible that would otherwise move, hide or imitate text around them. Pure. */

/** Controls other than tab and line end, marks of direction, and invisible characters that join or separate. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu;

/** Joiners hold emoji and some scripts together; beside Latin letters they only imitate another name. */
const JOINERS = /[\u200C\u200D](?=[\u0021-\u007E])|(?<=[\u0021-\u007E])[\u200C\u200D]/gu;

/** `text` with each such character as its code point, such as `⟦U+202E⟧`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, named).replace(JOINERS, named);
}

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}
