/** The navigation at the top. */
import { Link } from "@tanstack/react-router";
import { Keyboard, Plus, Search, Settings } from "lucide-react";

import { Button, buttonClass } from "@/components/Button";
import { isMac } from "@/lib/shortcuts";

import { overlays } from "./overlays";
import { useWaitingCount } from "./waiting-notice";

const PLACES = [
  { to: "/", label: "Runs", exact: true },
  { to: "/escalations", label: "Escalations", exact: false },
  { to: "/backlog", label: "Backlog", exact: false },
  { to: "/metrics", label: "Metrics", exact: false },
  { to: "/evaluators", label: "Evaluators", exact: false },
] as const;

const LOOK =
  "flex min-h-8 items-center gap-1.5 rounded-md py-1 font-medium hover:bg-sunken aria-[current=page]:bg-sunken";

export function Header() {
  const waiting = useWaitingCount();
  return (
    <header className="z-20 border-b border-line bg-canvas sm:sticky sm:top-0">
      <div className="mx-auto flex flex-wrap items-center gap-x-2 gap-y-1 px-4 py-2">
        <Link
          to="/"
          className="mr-2 flex items-center gap-2 font-semibold"
          aria-label="PhaseRunner, all runs"
        >
          <img src="/favicon.svg" alt="" width={20} height={20} />
          <span className="max-md:sr-only">PhaseRunner</span>
        </Link>
        <nav aria-label="Main" className="main-nav">
          {PLACES.map((place) => (
            <Link
              key={place.to}
              to={place.to}
              className={LOOK}
              activeOptions={{ exact: place.exact, includeSearch: false }}
            >
              {place.label}
              {place.to === "/escalations" && waiting > 0 && (
                <span className="rounded-full bg-waiting-chip px-1.5 text-xs text-waiting">
                  {waiting}
                  <span className="sr-only"> waiting</span>
                </span>
              )}
            </Link>
          ))}
        </nav>
        <div className="ml-auto flex items-center gap-1">
          <Button onClick={() => overlays.open("palette")} aria-keyshortcuts="Control+K Meta+K">
            <Search aria-hidden size={16} />
            <span className="max-md:sr-only">Search</span>
            <kbd className="text-muted max-md:hidden">{isMac() ? "⌘K" : "Ctrl K"}</kbd>
          </Button>
          <Button
            weight="quiet"
            onClick={() => overlays.open("help")}
            aria-label="Keyboard shortcuts"
            aria-keyshortcuts="?"
          >
            <Keyboard aria-hidden size={16} />
          </Button>
          <Link to="/settings" className={buttonClass("quiet")} aria-label="Settings">
            <Settings aria-hidden size={16} />
          </Link>
          <Link to="/new" className={buttonClass("primary")}>
            <Plus aria-hidden size={16} />
            <span className="max-sm:sr-only">New sprint</span>
          </Link>
        </div>
      </div>
    </header>
  );
}
