/** Figures and times in words. Pure. */

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** A length of time in its two largest units: `850 ms`, `12 s`, `3 min 5 s`, `2 h 4 min`, `3 d 2 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return two(seconds, MINUTE, "min", 1, "s");
  if (seconds < DAY) return two(seconds, HOUR, "h", MINUTE, "min");
  return two(seconds, DAY, "d", HOUR, "h");
}

function two(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  const first = `${Math.floor(seconds / large)} ${largeName}`;
  return rest === 0 ? first : `${first} ${rest} ${smallName}`;
}

/** How long ago, coarse: `now`, `40 s`, `5 min`, `3 h`, `2 d`. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 5) return "now";
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} d`;
}

/** US dollars; an unknown cost is never zero. */
export function formatCost(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "unknown";
  if (usd === 0) return "$0.00";
  return usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`;
}

export function formatScore(score: number | null | undefined): string {
  return score === null || score === undefined ? "–" : score.toFixed(2);
}

// A format is large: browsers clean up those that are dropped all at once, which stops a page for tens of
// milliseconds. So each is made once.
const COUNT = new Intl.NumberFormat("en");
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const MOMENT = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});

export function formatCount(count: number): string {
  return COUNT.format(count);
}

export function formatClock(time: string | number): string {
  return CLOCK.format(new Date(time));
}

export function formatMoment(time: string | number): string {
  return MOMENT.format(new Date(time));
}

/** In the reader's time zone. */
export function isSameDay(one: string | number, other: string | number): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
