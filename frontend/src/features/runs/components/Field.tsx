/** A labelled field that shows what the service says about it. */
import { type ReactElement, type ReactNode, cloneElement, useId } from "react";

export const INPUT =
  "min-h-8 w-full rounded-md border border-line bg-raised px-2 py-1 aria-invalid:border-failed";

interface Props {
  label: string;
  hint?: ReactNode;
  error?: string;
  children: ReactElement<{
    id?: string;
    "aria-describedby"?: string;
    "aria-invalid"?: boolean;
    className?: string;
  }>;
}

export function Field({ label, hint, error = "", children }: Props) {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  const input = cloneElement(children, {
    id,
    className: INPUT,
    "aria-invalid": error !== "",
    ...(described ? { "aria-describedby": described } : {}),
  });
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {input}
      {hint && (
        <span id={`${id}-hint`} className="text-muted">
          {hint}
        </span>
      )}
      {error && (
        <span id={`${id}-error`} role="alert" className="theirs text-failed" data-field-error>
          {error}
        </span>
      )}
    </div>
  );
}
