/** Asks before something that cannot be taken back, and for a text such as its reason. */
import { AlertDialog } from "radix-ui";
import { type FormEvent, useState } from "react";

import { useReturnedFocus } from "@/lib/returned-focus";

import { Button } from "./Button";
import { explain } from "./states";

interface Props {
  title: string;
  text: string;
  /** Of the text; without it none is asked for. */
  label?: string;
  confirm: string;
  /** The text at first. */
  initial?: string;
  isOneLine?: boolean;
  weight?: "danger" | "primary";
  isBusy: boolean;
  error: unknown;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}

const FIELD = "rounded-md border border-line bg-raised p-2";

export function ConfirmDialog(props: Props) {
  const { title, text, label, confirm, initial = "", isOneLine = false, weight = "danger" } = props;
  const { isBusy, error, onConfirm, onClose } = props;
  const [reason, setReason] = useState(initial);
  const returned = useReturnedFocus();

  function submit(event: FormEvent): void {
    event.preventDefault();
    onConfirm(reason);
  }

  return (
    <AlertDialog.Root open onOpenChange={(next) => !next && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <AlertDialog.Content
          {...returned}
          className={[
            "card fixed left-1/2 top-[20dvh] z-50 w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 p-4",
            "shadow-xl",
          ].join(" ")}
        >
          <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description className="theirs my-2 text-muted">{text}</AlertDialog.Description>
          <form onSubmit={submit} className="flex flex-col gap-3">
            {label && (
              <label className="flex flex-col gap-1">
                {label}
                {isOneLine ? (
                  <input
                    className={FIELD}
                    maxLength={200}
                    value={reason}
                    onChange={(event) => setReason(event.target.value)}
                  />
                ) : (
                  <textarea
                    className={FIELD}
                    rows={2}
                    maxLength={2000}
                    value={reason}
                    onChange={(event) => setReason(event.target.value)}
                  />
                )}
              </label>
            )}
            {error !== null && error !== undefined && (
              <p role="alert" className="theirs text-failed">
                {explain(error, "do this").text}
              </p>
            )}
            <div className="flex justify-end gap-2">
              <AlertDialog.Cancel asChild>
                <Button>Go back</Button>
              </AlertDialog.Cancel>
              <Button type="submit" weight={weight} disabled={isBusy}>
                {isBusy ? "Waiting for the service …" : confirm}
              </Button>
            </div>
          </form>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
