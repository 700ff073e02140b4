/** Below a log: whether it follows, and how to go on. */
import { ArrowDownToLine, ChevronsDown, Link2 } from "lucide-react";

import { Button } from "@/components/Button";
import { explain } from "@/components/states";
import { formatCount } from "@/lib/format";

import type { LogWindow } from "./use-log-window";

interface Props {
  log: LogWindow;
  isLive: boolean;
  /** What the button that makes a link names; empty without lines. */
  linked: string;
  onFollow: () => void;
  onNewer: () => void;
  onLink: () => void;
}

export function LogFooter({ log, isLive, linked, onFollow, onNewer, onLink }: Props) {
  const { isPaused, fresh, hasNewer, fetching, error } = log;
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-3 border-t border-line px-2 py-1 text-muted">
      {isPaused ? (
        <>
          <span role="status">
            Paused{fresh > 0 && `: ${formatCount(fresh)} new ${fresh === 1 ? "line" : "lines"}`}
          </span>
          <Button onClick={onFollow}>
            <ArrowDownToLine aria-hidden size={16} />
            Follow <kbd>End</kbd>
          </Button>
        </>
      ) : (
        <span>{isLive ? "Following. Scroll up to pause." : "End of the log."}</span>
      )}
      {hasNewer && (
        <Button weight="quiet" onClick={onNewer} disabled={fetching !== null}>
          <ChevronsDown aria-hidden size={16} />
          Newer lines
        </Button>
      )}
      {error !== null && (
        <span role="alert" className="text-failed">
          {explain(error, "load lines of the log").text}
        </span>
      )}
      {linked && (
        <Button className="ml-auto" weight="quiet" onClick={onLink}>
          <Link2 aria-hidden size={16} />
          Link to {linked}
        </Button>
      )}
    </div>
  );
}
