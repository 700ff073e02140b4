/** What the forms of every kind of run have in common: choose the kind, send, wait, and show what is refused. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, Fragment, type ReactNode, useEffect, useRef, useState } from "react";

import { Allowed } from "@/components/Allowed";
import { Button } from "@/components/Button";
import { CopyMenu } from "@/components/CopyMenu";
import { PageHeader } from "@/components/PageHeader";
import { explain } from "@/components/states";
import { ApiError, UnreachableError } from "@/lib/api/errors";
import { KINDS, type RunKind } from "@/lib/kinds";
import { keys } from "@/lib/queries/keys";
import { useRepeatKey } from "@/lib/repeat-key";

const ALL: readonly RunKind[] = ["sprint", "director_loop", "answer"];

export interface Copy {
  readonly label: string;
  readonly text: () => string;
}

interface Props {
  kind: RunKind;
  /** What is said beside the button. */
  note: string;
  copies: readonly Copy[];
  /** Something was typed; it stays until the run is started or the form is cleared. */
  isFilled: boolean;
  onClear: () => void;
  /** What is sent, as text; as long as it stays the same, so does the key. */
  body: string;
  /** Starts it; the key makes a repetition safe. */
  start: (key: string) => Promise<{ id: string }>;
  /** The fields; `refused` is what the service says of them. */
  children: (refused: ApiError | null) => ReactNode;
}

export function StartForm({ kind, note, copies, isFilled, onClear, body, start, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { word, page } = KINDS[kind];
  // Fields of files have what they show of themselves: they are made anew.
  const [cleared, setCleared] = useState(0);
  useEffect(() => {
    if (cleared > 0) form.current?.querySelector<HTMLElement>("textarea, input")?.focus();
  }, [cleared]);
  const key = useRepeatKey();
  const starting = useMutation({
    mutationFn: () => start(key.of(body)),
    onSuccess({ id }) {
      void client.invalidateQueries({ queryKey: keys.runs });
      onClear();
      void navigate({ to: page, params: { id } });
    },
  });

  useEffect(() => {
    if (!starting.error) return;
    const refused = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    refused?.focus({ preventScroll: true });
    // In the middle, so that the header covers nothing that can be clicked.
    refused?.scrollIntoView({ block: "center" });
  }, [starting.error]);

  function clear(): void {
    onClear();
    starting.reset();
    setCleared(cleared + 1);
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    starting.mutate();
  }

  return (
    <div className="mx-auto max-w-3xl">
      <PageHeader
        title={`New ${word}`}
        actions={
          <>
            {isFilled && (
              <Button disabled={starting.isPending} onClick={clear}>
                Clear the form
              </Button>
            )}
            <CopyMenu items={copies} label="Copy as" />
          </>
        }
      />
      <nav aria-label="Kind of run" className="flex flex-wrap gap-1 pb-4">
        {ALL.map((each) => (
          <Link
            key={each}
            to="/new"
            search={{ kind: each === "sprint" ? undefined : each }}
            // The router compares addresses: without a kind it would mark no link for the sprint.
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={each === kind ? "page" : undefined}
            className={[
              "inline-flex min-h-8 items-center rounded-md border border-line px-3 capitalize",
              "no-underline aria-[current=page]:border-accent aria-[current=page]:bg-accent",
              "aria-[current=page]:text-on-accent",
            ].join(" ")}
          >
            {KINDS[each].word}
          </Link>
        ))}
      </nav>
      <form ref={form} onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <Fragment key={cleared}>
          {children(starting.error instanceof ApiError ? starting.error : null)}
        </Fragment>
        {starting.isError && <Refusal error={starting.error} word={word} />}
        <div className="flex items-center gap-3">
          <Allowed needs="operator" type="submit" weight="primary" disabled={starting.isPending}>
            {starting.isPending ? "Starting …" : `Start the ${word}`}
          </Allowed>
          <span className="text-muted">{note}</span>
        </div>
      </form>
    </div>
  );
}

/** The request may have arrived; its key makes the next one safe. */
function unanswered(word: string): { title: string; text: string } {
  return {
    title: "The service did not respond",
    text: `Your entries are kept. Start the ${word} again when the service is back. Without changes it starts only once.`,
  };
}

function Refusal({ error, word }: { error: unknown; word: string }) {
  const { title, text } =
    error instanceof UnreachableError ? unanswered(word) : explain(error, `start the ${word}`);
  return (
    <div role="alert" className="card border-failed p-3" data-state="error">
      <p className="font-medium text-failed">{title}</p>
      <p className="theirs">{text}</p>
    </div>
  );
}
