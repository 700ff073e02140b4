/** What was said to the agent of a run, and what became of it. */
import { CircleCheck, CircleSlash, Clock3, type LucideIcon } from "lucide-react";

import { RelativeTime } from "@/components/RelativeTime";
import type { Message } from "@/lib/queries/messages";
import { plainText } from "@/lib/text/ansi";

const STATES: Record<Message["status"], { icon: LucideIcon; look: string }> = {
  queued: { icon: Clock3, look: "text-muted" },
  delivered: { icon: CircleCheck, look: "text-passed" },
  refused: { icon: CircleSlash, look: "text-failed" },
};

export function MessageList({ items }: { items: readonly Message[] }) {
  return (
    <ol className="flex flex-col gap-2" aria-label="Messages">
      {items.map((each) => (
        <MessageItem key={each.id} message={each} />
      ))}
    </ol>
  );
}

function MessageItem({ message }: { message: Message }) {
  const { icon: Icon, look } = STATES[message.status];
  return (
    <li className="border-l-4 border-line pl-3" data-message={message.status}>
      <p className="theirs">{message.text.split("\n").map(plainText).join("\n")}</p>
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <span className={`inline-flex items-center gap-1 ${look}`}>
          <Icon aria-hidden size={14} />
          {message.status}
        </span>
        <span className="theirs">
          {placeOf(message)}
          {message.mode} · {plainText(message.sent_by)}
        </span>
        <RelativeTime at={message.settled_at ?? message.sent_at} />
        {message.reason && <span className="theirs">{plainText(message.reason)}</span>}
      </p>
    </li>
  );
}

function placeOf({ phase, attempt }: Message): string {
  return phase && attempt !== null ? `${phase} attempt ${attempt} · ` : "";
}
