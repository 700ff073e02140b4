/** Marks on a verdict, and the buttons that make one. Waits for the server; nothing is shown before it is true. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";

import { Allowed } from "@/components/Allowed";
import { Button } from "@/components/Button";
import { explain } from "@/components/states";
import { UntrustedText } from "@/components/UntrustedText";
import { markVerdict, withdrawMark } from "@/lib/queries/metrics";
import type { Evaluation } from "@/lib/queries/runs";

const KINDS = { right: "right", wrong_pass: "a wrong pass", wrong_fail: "a wrong fail" } as const;

export function VerdictMarks({ evaluation }: { evaluation: Evaluation }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [note, setNote] = useState("");
  const why = useRef<HTMLInputElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    // The button gives way to the form, and the form to the button.
    if (isOpen) why.current?.focus();
    else if (wasOpen.current && document.activeElement === document.body) opener.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const changed = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["evaluators"] }),
      queries.invalidateQueries({ queryKey: ["metrics"] }),
    ]);
  const mark = useMutation({
    mutationFn: (wasRight: boolean) => markVerdict(evaluation.id, wasRight, note),
    onSuccess: () => {
      setOpen(false);
      setNote("");
      return changed();
    },
  });
  const withdraw = useMutation({
    mutationFn: (id: string) => withdrawMark(evaluation.id, id),
    onSuccess: changed,
  });
  const error = mark.error ?? withdraw.error;
  const wrong = evaluation.status === "passed" ? KINDS.wrong_pass : KINDS.wrong_fail;
  if (evaluation.status !== "passed" && evaluation.status !== "failed") return null;
  return (
    <div className="flex flex-col gap-1 px-3 pb-2">
      {evaluation.marks.map((each) => (
        <p key={each.id} className="flex flex-wrap items-center gap-2">
          <span>
            <UntrustedText text={each.marked_by} /> says it was <strong>{KINDS[each.kind]}</strong>
          </span>
          {each.note && <UntrustedText text={each.note} className="text-muted" />}
          <Allowed
            needs="reviewer"
            weight="quiet"
            onClick={() => withdraw.mutate(each.id)}
            disabled={withdraw.isPending}
          >
            Withdraw
            <span className="sr-only"> the mark by {each.marked_by}</span>
          </Allowed>
        </p>
      ))}
      {isOpen ? (
        <form
          className="flex flex-wrap items-center gap-2"
          onSubmit={(event: FormEvent) => event.preventDefault()}
        >
          <input
            ref={why}
            aria-label="Why"
            placeholder="Why"
            maxLength={4000}
            value={note}
            onChange={(event) => setNote(event.target.value)}
            className="min-h-8 min-w-64 rounded-md border border-line bg-raised px-2"
          />
          <Button onClick={() => mark.mutate(true)} disabled={mark.isPending}>
            It was right
          </Button>
          <Button onClick={() => mark.mutate(false)} disabled={mark.isPending}>
            It was {wrong}
          </Button>
          <Button weight="quiet" onClick={() => setOpen(false)}>
            Cancel
          </Button>
        </form>
      ) : (
        <div>
          <Allowed ref={opener} needs="reviewer" onClick={() => setOpen(true)}>
            Was it right?
          </Allowed>
        </div>
      )}
      {error && (
        <p role="alert" className="text-failed">
          {explain(error, "save the mark").text}
        </p>
      )}
    </div>
  );
}
