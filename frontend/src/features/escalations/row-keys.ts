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

/** If what had the focus is gone, focus the first row; without rows, the page. */
export function keepFocus(list: HTMLElement | null): void {
  if (document.activeElement !== document.body) return;
  const row = list?.isConnected ? list.querySelector("a") : null;
  (row ?? document.querySelector<HTMLElement>("#main"))?.focus();
}
