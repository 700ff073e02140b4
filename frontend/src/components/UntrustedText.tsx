/** Text that users, agents or programs wrote: shown as text and isolated, with hidden characters made visible. */
import { visible } from "@/lib/text/visible";

export function UntrustedText({ text, className = "" }: { text: string; className?: string }) {
  return <bdi className={className}>{visible(text)}</bdi>;
}
