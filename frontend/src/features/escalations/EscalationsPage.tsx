/** The inbox of what waits for a person, oldest first. */
import { Link } from "@tanstack/react-router";
import { Inbox } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";

import { Button, buttonClass } from "@/components/Button";
import { CodeSpans } from "@/components/CodeSpans";
import { PageHeader } from "@/components/PageHeader";
import { RelativeTime } from "@/components/RelativeTime";
import { EmptyState, ErrorState, LoadingState } from "@/components/states";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { plural } from "@/lib/format";
import { KINDS } from "@/lib/kinds";
import { shortProject } from "@/lib/projects";
import type { Escalation, EscalationStatus } from "@/lib/queries/escalations";
import type { EscalationsSearch } from "@/lib/search";
import { type Action, useActions } from "@/lib/shortcuts";
import { visible } from "@/lib/text/visible";

import { Assignment } from "./components/Assignment";
import { BulkReject } from "./components/BulkReject";
import { InboxFilters } from "./components/InboxFilters";
import { placeOf } from "./consequences";
import { DECISIONS, reasonOf } from "./labels";
import { moveFocus, pressAssignment, pressChoice } from "./row-keys";
import { useInbox } from "./use-inbox";
import { useKeptFocus } from "./use-kept-focus";

const WORDS: Record<EscalationStatus, string> = {
  open: "Waiting",
  resolved: "Decided",
  withdrawn: "Withdrawn",
};
const STATUSES = ["open", "resolved", "withdrawn"] as const;

interface Props {
  search: EscalationsSearch;
  onChange: (part: Partial<EscalationsSearch>) => void;
}

export function EscalationsPage({ search, onChange }: Props) {
  const status = search.status ?? "open";
  const inbox = useInbox(search);
  const items = useMemo(() => inbox.data?.pages.flatMap((page) => page.items) ?? [], [inbox.data]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<HTMLUListElement>(null);
  const place = useRef<HTMLDivElement>(null);
  useKeptFocus(place);
  const more = useRef(() => {});
  useEffect(() => {
    more.current = () => {
      if (inbox.hasNextPage && !inbox.isFetchingNextPage) void inbox.fetchNextPage();
    };
  });
  const offered = useMemo<readonly Action[]>(() => {
    const go = (step: 1 | -1) => moveFocus(list.current, step, () => more.current());
    const group = "Queue";
    return [
      { id: "down", label: "Next escalation (Enter opens it)", keys: "j", group, run: () => go(1) },
      { id: "up", label: "Previous escalation", keys: "k", group, run: () => go(-1) },
      { id: "take", label: "Take the escalation, or give it back", keys: "m", group, run: pressAssignment },
      {
        id: "choose",
        label: "Choose the escalation for rejecting several",
        keys: "x",
        group,
        run: pressChoice,
      },
    ];
  }, []);
  useActions(offered);
  const choose = (id: string, isChosen: boolean) =>
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((each) => each !== id)));
  return (
    <>
      <PageHeader
        title="Escalations"
        actions={STATUSES.map((each) => (
          <Button
            key={each}
            aria-pressed={status === each}
            className="pressable"
            onClick={() => onChange({ status: each })}
          >
            {WORDS[each]}
          </Button>
        ))}
      />
      <InboxFilters search={search} onChange={onChange} />
      <div ref={place}>
        {status === "open" && (
          <BulkReject
            chosen={items.filter((each) => chosen.has(each.id))}
            onRejected={(ids) =>
              setChosen((before) => new Set([...before].filter((each) => !ids.includes(each))))
            }
            onClear={() => setChosen(new Set())}
          />
        )}
        {inbox.error && !inbox.data && (
          <ErrorState error={inbox.error} what="load the escalations" onRetry={() => void inbox.refetch()} />
        )}
        {inbox.isPending && <LoadingState what="the escalations" />}
        {inbox.data && items.length === 0 && (
          <Nothing status={status} isFiltered={isFiltered(search)} onClear={() => onChange(NO_FILTERS)} />
        )}
        {items.length > 0 && (
          <ul ref={list} className="card divide-y divide-line" aria-label={`${WORDS[status]}, oldest first`}>
            {items.map((each) => (
              <Row
                key={each.id}
                escalation={each}
                isChosen={chosen.has(each.id)}
                onChoose={(isChosen) => choose(each.id, isChosen)}
              />
            ))}
          </ul>
        )}
        {items.length > 0 && (
          <div className="flex items-center gap-3 py-3 text-muted">
            <span>{plural(items.length, "escalation")} shown</span>
            {inbox.hasNextPage && (
              <Button onClick={() => void inbox.fetchNextPage()} disabled={inbox.isFetchingNextPage}>
                {inbox.isFetchingNextPage ? "Loading …" : "Show more"}
              </Button>
            )}
          </div>
        )}
      </div>
    </>
  );
}

const NO_FILTERS: Partial<EscalationsSearch> = {
  reason: undefined,
  kind: undefined,
  project: undefined,
  hours: undefined,
  who: undefined,
};

function isFiltered({ reason, kind, project, hours, who }: EscalationsSearch): boolean {
  return [reason, kind, project, hours, who].some((each) => each !== undefined);
}

interface RowProps {
  escalation: Escalation;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}

function Row({ escalation, isChosen, onChoose }: RowProps) {
  return (
    <li className="inbox-row flex flex-wrap items-start gap-x-2 px-3" data-escalation={escalation.id}>
      {escalation.status === "open" && (
        <input
          type="checkbox"
          className="mt-3.5 size-4"
          aria-label={`Choose ${visible(escalation.run_name)}`}
          checked={isChosen}
          onChange={(event) => onChoose(event.target.checked)}
        />
      )}
      <Link
        to="/escalations/$id"
        params={{ id: escalation.id }}
        className="flex min-w-0 flex-1 basis-64 flex-col gap-1 py-2 no-underline hover:bg-sunken focus-visible:bg-sunken"
      >
        <span className="flex flex-wrap items-center gap-x-3">
          <StatusBadge
            status={escalation.decision ?? escalation.status}
            {...(escalation.decision ? { word: DECISIONS[escalation.decision] } : {})}
          />
          <span className="theirs min-w-0 font-medium">
            <UntrustedText text={escalation.run_name} />
          </span>
          <span className="text-muted" title={visible(escalation.project ?? "")}>
            {[
              KINDS[escalation.kind].word,
              placeOf(escalation),
              visible(shortProject(escalation.project ?? "")),
            ]
              .filter(Boolean)
              .join(", ")}
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
          <span className="text-ink">{reasonOf(escalation)}.</span>{" "}
          <bdi>
            <CodeSpans text={escalation.reason} />
          </bdi>
        </span>
      </Link>
      <div className="py-2">
        <Assignment escalation={escalation} />
      </div>
    </li>
  );
}

interface NothingProps {
  status: EscalationStatus;
  isFiltered: boolean;
  onClear: () => void;
}

function Nothing({ status, isFiltered, onClear }: NothingProps) {
  if (isFiltered) {
    return (
      <EmptyState icon={Inbox} title="No escalations match these filters">
        <Button onClick={onClear}>Show all</Button>
      </EmptyState>
    );
  }
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
