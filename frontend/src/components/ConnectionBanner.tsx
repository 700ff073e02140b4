/** Says, in a fixed place, that what is shown may be out of date, and since when. */
import { Link } from "@tanstack/react-router";
import { PlugZap } from "lucide-react";

import { formatAge, formatClock } from "@/lib/format";
import { useConnection, useLive } from "@/lib/live-context";
import { useNow } from "@/lib/now";

import { Button } from "./Button";
import { UntrustedText } from "./UntrustedText";

export function ConnectionBanner() {
  const connection = useConnection();
  const isAway = connection.status === "lost" || connection.status === "refused";
  return (
    <div role="status" className="sticky top-0 z-10 sm:top-[calc(3rem+1px)]">
      {isAway && (
        <div
          className="flex flex-wrap items-center gap-3 border-b border-line bg-waiting-chip px-4 py-2 text-waiting"
          data-banner={connection.status}
        >
          <PlugZap aria-hidden size={16} />
          {connection.status === "lost" ? (
            <Lost since={connection.since} />
          ) : (
            <Refused reason={connection.reason} />
          )}
        </div>
      )}
    </div>
  );
}

function Lost({ since }: { since: number }) {
  const { stream } = useLive();
  const now = useNow();
  return (
    <>
      <span>
        No connection to the service. This page is stale since <strong>{formatClock(since)}</strong>{" "}
        <span aria-hidden>({formatAge(Math.max(0, now - since))})</span>. It reconnects automatically.
      </span>
      <Button onClick={() => stream.retry()}>Try now</Button>
    </>
  );
}

function Refused({ reason }: { reason: string }) {
  return (
    <span>
      The service refused the connection: <UntrustedText text={reason || "no valid token"} />.{" "}
      <Link to="/settings" search={{ back: location.pathname + location.search }} className="underline">
        Enter a token
      </Link>
    </span>
  );
}
