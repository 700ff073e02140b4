/** What a page shows instead of its content: nothing yet, loading, or an error with a way on. */
import { Link } from "@tanstack/react-router";
import { CircleOff, type LucideIcon, TriangleAlert } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";

import { ApiError, UnreachableError } from "@/lib/api/errors";

import { Button, buttonClass } from "./Button";

interface EmptyProps {
  icon?: LucideIcon;
  title: string;
  /** What to do next. */
  children?: ReactNode;
}

export function EmptyState({ icon: Icon = CircleOff, title, children }: EmptyProps) {
  return (
    <div
      className="mx-auto flex max-w-xl flex-col items-center gap-3 px-4 py-16 text-center"
      data-state="empty"
    >
      <Icon aria-hidden size={32} className="text-muted" />
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="flex flex-col items-center gap-3 text-muted">{children}</div>
    </div>
  );
}

/** Comes after a moment: what loads at once does not flicker. */
export function LoadingState({ what }: { what: string }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="p-4 text-muted" role="status" data-state="loading">
      {isSlow ? `Loading ${what} …` : <span className="sr-only">Loading {what}</span>}
    </div>
  );
}

interface ErrorProps {
  error: unknown;
  /** What was tried, such as `load the sprint`. */
  what: string;
  onRetry?: () => void;
}

export function ErrorState({ error, what, onRetry }: ErrorProps) {
  const { title, text } = explain(error, what);
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <div
      className="mx-auto flex max-w-xl flex-col items-center gap-3 px-4 py-16 text-center"
      role="alert"
      data-state="error"
    >
      <TriangleAlert aria-hidden size={32} className="text-errored" />
      <h2 className="text-lg font-semibold">{title}</h2>
      <p className="theirs text-muted">{text}</p>
      {needsToken(error) && (
        <Link
          to="/settings"
          search={{ back: location.pathname + location.search }}
          className={buttonClass("primary")}
        >
          Enter a token
        </Link>
      )}
      {isGone ? (
        <Link to="/" className={buttonClass()}>
          Show all runs
        </Link>
      ) : (
        onRetry && <Button onClick={onRetry}>Try again</Button>
      )}
    </div>
  );
}

export function explain(error: unknown, what: string): { title: string; text: string } {
  if (error instanceof UnreachableError) {
    return { title: `Cannot ${what}`, text: "The service does not respond. Try again in a moment." };
  }
  if (error instanceof ApiError) {
    const hint = needsToken(error) ? " Enter a token under Settings." : "";
    return { title: error.problem.title || `Cannot ${what}`, text: error.problem.detail + hint };
  }
  return { title: `Cannot ${what}`, text: error instanceof Error ? error.message : String(error) };
}

/** Whether the service wants to know who asks. */
export function needsToken(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}
