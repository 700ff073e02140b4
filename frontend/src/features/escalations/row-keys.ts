/** What keys do with the rows of the inbox. */

/** The row that has the focus, or holds what has it. */
function pressIn(selector: string): void {
  document.activeElement?.closest("[data-escalation]")?.querySelector<HTMLElement>(selector)?.click();
}

export function pressAssignment(): void {
  pressIn("[data-assignment] button");
}

export function pressChoice(): void {
  pressIn("input[type=checkbox]");
}

/** Focus the row after or before the focused one; the first when none is. Past the last one there may be more. */
export function moveFocus(list: HTMLElement | null, step: 1 | -1, onPastEnd: () => void): void {
  const rows = [...(list?.querySelectorAll("a") ?? [])];
  const at = rows.indexOf(document.activeElement as HTMLAnchorElement);
  const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
  rows[next]?.focus();
  if (at >= 0 && at + step >= rows.length) onPastEnd();
}
