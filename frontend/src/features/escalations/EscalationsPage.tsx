/** The queue of what waits for a human, oldest first. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Inbox } from "lucide-react";
import { useMemo, useRef } from "react";

import { Button, buttonClass } from "@/components/Button";
import { PageHeader } from "@/components/PageHeader";
import { RelativeTime } from "@/components/RelativeTime";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { KINDS } from "@/lib/kinds";
import { type Escalation, escalationsQuery, type EscalationStatus } from "@/lib/queries/escalations";
import { type Action, useActions } from "@/lib/shortcuts";

import { placeOf } from "./consequences";
import { DECISIONS, reasonOf } from "./labels";

const WORDS: Record<EscalationStatus, string> = {
  open: "Waiting",
  resolved: "Decided",
  withdrawn: "Withdrawn",
};
const STATUSES = ["open", "resolved", "withdrawn"] as const;

interface Props {
  status: EscalationStatus;
  onStatus: (status: EscalationStatus) => void;
}

export function EscalationsPage({ status, onStatus }: Props) {
  const { data, error, refetch } = useQuery(escalationsQuery(status));
  const list = useRef<HTMLUListElement>(null);
  const offered = useMemo<readonly Action[]>(() => {
    const go = (step: 1 | -1) => moveFocus(list.current, step);
    return [
      { id: "down", label: "Next escalation (Enter opens it)", keys: "j", group: "Queue", run: () => go(1) },
      { id: "up", label: "Previous escalation", keys: "k", group: "Queue", run: () => go(-1) },
    ];
  }, []);
  useActions(offered);
  return (
    <>
      <PageHeader
        title="Escalations"
        actions={STATUSES.map((each) => (
          <Button
            key={each}
            aria-pressed={status === each}
            className="pressable"
            onClick={() => onStatus(each)}
          >
            {WORDS[each]}
          </Button>
        ))}
      />
      {error && !data && (
        <ErrorState error={error} what="load the escalations" onRetry={() => void refetch()} />
      )}
      {!data && !error && <LoadingState what="the escalations" />}
      {data?.items.length === 0 && <Nothing status={status} />}
      {data && data.items.length > 0 && (
        <ul ref={list} className="card divide-y divide-line" aria-label={`${WORDS[status]}, oldest first`}>
          {data.items.map((each) => (
            <Row key={each.id} escalation={each} />
          ))}
        </ul>
      )}
      {data?.next_cursor && (
        <p className="p-2 text-muted">Only the oldest 200 are shown. The command line lists all.</p>
      )}
    </>
  );
}

function Row({ escalation }: { escalation: Escalation }) {
  return (
    <li>
      <Link
        to="/escalations/$id"
        params={{ id: escalation.id }}
        className="flex min-w-0 flex-col gap-1 px-3 py-2 no-underline hover:bg-sunken focus-visible:bg-sunken"
      >
        <span className="flex flex-wrap items-center gap-x-3">
          <StatusBadge
            status={escalation.decision ?? escalation.status}
            {...(escalation.decision ? { word: DECISIONS[escalation.decision] } : {})}
          />
          <span className="theirs min-w-0 font-medium">
            <UntrustedText text={escalation.run_name} />
          </span>
          <span className="text-muted">
            {[KINDS[escalation.kind].word, placeOf(escalation)].filter(Boolean).join(", ")}
          </span>
          <span className="ml-auto text-muted">
            {escalation.decided_by && (
              <>
                by <UntrustedText text={escalation.decided_by} />{" "}
              </>
            )}
            <RelativeTime at={escalation.decided_at ?? escalation.created_at} />
          </span>
        </span>
        <span className="line-clamp-2 break-words text-muted">
          <span className="text-ink">{reasonOf(escalation)}.</span> <UntrustedText text={escalation.reason} />
        </span>
      </Link>
    </li>
  );
}

function Nothing({ status }: { status: EscalationStatus }) {
  if (status !== "open") {
    return (
      <EmptyState icon={Inbox} title={`No ${WORDS[status].toLowerCase()} escalations`}>
        <p>Past decisions are listed here with their author and reason.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={Inbox} title="No open escalations">
      <p>
        A run escalates when it runs out of attempts or budget, or when its agent asks. The page title counts
        open escalations.
      </p>
      <Link to="/" className={buttonClass("primary")}>
        Show all runs
      </Link>
    </EmptyState>
  );
}

/** Focus the row after or before the focused one; the first when none is. */
function moveFocus(list: HTMLElement | null, step: 1 | -1): void {
  const rows = [...(list?.querySelectorAll("a") ?? [])];
  const at = rows.indexOf(document.activeElement as HTMLAnchorElement);
  const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
  rows[next]?.focus();
}
