/** How long ago something was; the moment itself is in the title. */
import { formatAge, formatDuration, formatMoment } from "@/lib/format";
import { useNow } from "@/lib/now";

export function RelativeTime({ at }: { at: string | number }) {
  const now = useNow();
  const age = formatAge(now - new Date(at).getTime());
  return (
    <time dateTime={new Date(at).toISOString()} title={formatMoment(at)} className="whitespace-nowrap">
      {age === "now" ? "now" : `${age} ago`}
    </time>
  );
}

/** From one moment to another, or until now. */
export function Elapsed({ from, to }: { from: string; to: string | null }) {
  const now = useNow();
  const end = to === null ? now : new Date(to).getTime();
  return <span className="whitespace-nowrap">{formatDuration(end - new Date(from).getTime())}</span>;
}
