/** Says something to the agent of a run, and shows what became of everything that was said. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useId, useState } from "react";

import { Button } from "@/components/Button";
import { explain } from "@/components/states";
import { useKept } from "@/lib/kept";
import { KINDS } from "@/lib/kinds";
import { useObstacle } from "@/lib/queries/me";
import { keys } from "@/lib/queries/keys";
import { type MessageCreate, messagesQuery, sendMessage } from "@/lib/queries/messages";
import type { Run } from "@/lib/queries/runs";
import { useRepeatKey } from "@/lib/repeat-key";

import { INPUT } from "./Field";
import { MessageList } from "./MessageList";

type Mode = NonNullable<MessageCreate["mode"]>;

const MODES: readonly { mode: Mode; label: string; hint: string }[] = [
  { mode: "steer", label: "Steer", hint: "before its next model request, if the agent can take it then" },
  { mode: "queue", label: "Queue", hint: "at the end of its work" },
];

const NOTHING = { text: "" };

export function MessageBox({ run }: { run: Run }) {
  const title = useId();
  const isSprint = run.kind === "sprint";
  // Here, so that the end of the run does not take what was typed.
  const { value, change, forget } = useKept(`message.${run.id}`, NOTHING);
  const { text } = value;
  const messages = useQuery({ ...messagesQuery(run.id), enabled: isSprint });
  const items = messages.data?.items ?? [];
  // Nothing can be said any more, and nothing was.
  const isOpen = run.finished_at === null || text !== "";
  if (!isOpen && items.length === 0 && !messages.error) return null;
  return (
    <section className="card flex flex-col gap-3 p-3" aria-labelledby={title}>
      <h2 id={title} className="font-semibold">
        Messages to the agent
      </h2>
      {messages.error && (
        <p role="alert" className="theirs text-failed">
          {explain(messages.error, "load the messages").text}
        </p>
      )}
      {items.length > 0 && <MessageList items={items} />}
      {isOpen && (
        <MessageForm run={run} text={text} onText={(typed) => (typed ? change({ text: typed }) : forget())} />
      )}
    </section>
  );
}

function useReason(run: Run): string {
  const obstacle = useObstacle("operator");
  if (run.finished_at !== null) return `The run is ${run.status}. Your text was not sent.`;
  if (run.kind !== "sprint")
    return `The agents of ${run.kind === "answer" ? "an answer" : `a ${KINDS[run.kind].word}`} take no messages. Only sprints do.`;
  return obstacle;
}

/** Sends a text. It stays in the field until the service has recorded it. */
function useSending(run: Run, text: string, mode: Mode, done: () => void) {
  const client = useQueryClient();
  const key = useRepeatKey();
  return useMutation({
    mutationFn: () => sendMessage(run.id, { text, mode }, key.of(`${mode} ${text}`)),
    onSuccess() {
      key.arrived();
      done();
      void client.invalidateQueries({ queryKey: keys.messages(run.id) });
    },
  });
}

interface FormProps {
  run: Run;
  text: string;
  onText: (text: string) => void;
}

function MessageForm({ run, text, onText }: FormProps) {
  const ids = useId();
  const [mode, setMode] = useState<Mode>("steer");
  const reason = useReason(run);
  const sending = useSending(run, text.trim(), mode, () => onText(""));
  const isReady = !reason && text.trim() !== "" && !sending.isPending;

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isReady) sending.mutate();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (isReady) sending.mutate();
  }

  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <textarea
        rows={2}
        maxLength={20_000}
        aria-label="Message"
        aria-describedby={`${ids}-note`}
        placeholder={reason ? "" : "Leave the cache alone."}
        // What is typed while a message is on its way would go with it.
        readOnly={reason !== "" || sending.isPending}
        className={`${INPUT} ${reason ? "cursor-not-allowed bg-sunken" : ""}`}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p id={`${ids}-note`} className={reason ? "theirs" : "text-muted"}>
        {reason || noteOf(run)}
      </p>
      {sending.error && (
        <p role="alert" className="theirs text-failed" data-refused>
          {explain(sending.error, "send the message").text}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <fieldset className="flex flex-wrap gap-x-4" disabled={reason !== ""}>
          <legend className="sr-only">When the agent receives it</legend>
          {MODES.map((each) => (
            <label key={each.mode} className="flex min-h-8 items-center gap-2" title={each.hint}>
              <input
                type="radio"
                name={`${ids}-mode`}
                checked={mode === each.mode}
                onChange={() => setMode(each.mode)}
              />
              <span>
                {each.label}
                <span className="text-muted"> {each.hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Button type="submit" className="ml-auto" disabled={!isReady}>
          <Send aria-hidden size={16} />
          {sending.isPending ? "Sending …" : "Send"} <kbd>Ctrl Enter</kbd>
        </Button>
      </div>
    </form>
  );
}

function noteOf(run: Run): string {
  if (run.paused) return "The run is paused. The message waits until you resume it.";
  if (run.scripted) return "A script reads messages only in the prompt of its next attempt.";
  return "An agent that cannot take it then receives it in its next attempt. The attempt is marked as steered.";
}
