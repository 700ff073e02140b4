/** Decisions, by whom and when; and what the reviewer who came second had typed. */
import { Link } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef } from "react";

import { Button, buttonClass } from "@/components/Button";
import { RelativeTime } from "@/components/RelativeTime";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { placeText, written } from "@/lib/diff/comments";
import { formatMoment, plural } from "@/lib/format";
import { KINDS } from "@/lib/kinds";
import type { EscalationDetail } from "@/lib/queries/escalations";

import { furtherText } from "../consequences";
import { type Draft, isEmpty } from "../resolution";
import { DECISIONS } from "../labels";

interface Props {
  escalation: EscalationDetail;
  draft: Draft;
  onDiscard: () => void;
  /** The next one in the queue. */
  next: string | null;
  waiting: number;
  /** The form was on screen before, and may have had the focus. */
  wasDeciding: RefObject<boolean>;
}

export function ResolvedPanel({ escalation, draft, onDiscard, next, waiting, wasDeciding }: Props) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!wasDeciding.current || document.activeElement !== document.body) return;
    const kept = panel.current?.querySelector<HTMLElement>("textarea");
    (kept ?? panel.current)?.focus();
  }, [wasDeciding]);
  const { decision, decided_by: by, decided_at: at } = escalation;
  return (
    <section ref={panel} tabIndex={-1} aria-label="Decision" className="card flex flex-col gap-3 p-3">
      <div role="status">
        <h2 className="font-semibold">
          {escalation.status === "withdrawn" ? (
            `Withdrawn: the ${KINDS[escalation.kind].word} was cancelled`
          ) : (
            <>
              <StatusBadge
                status={decision ?? "resolved"}
                word={decision ? DECISIONS[decision] : "Resolved"}
              />{" "}
              — decided by <UntrustedText text={by ?? "a reviewer"} />
            </>
          )}
        </h2>
      </div>
      {at && (
        <p className="text-muted">
          {formatMoment(at)} (<RelativeTime at={at} />)
        </p>
      )}
      {escalation.guidance && (
        <blockquote className="theirs border-l-2 border-line pl-2">
          <UntrustedText text={escalation.guidance} />
        </blockquote>
      )}
      {escalation.line_comments.length > 0 && (
        <p className="text-muted">
          {plural(escalation.line_comments.length, "line comment")}, shown in the diff.
        </p>
      )}
      {escalation.additional_attempts > 0 && (
        <p className="text-muted">{furtherText(escalation.kind, escalation.additional_attempts)}</p>
      )}
      {!isEmpty(draft) && <Unsent draft={draft} onDiscard={onDiscard} />}
      <div className="flex flex-wrap gap-2">
        {next && (
          <Link to="/escalations/$id" params={{ id: next }} className={buttonClass("primary")}>
            Next of {waiting} waiting
          </Link>
        )}
        <Link to={KINDS[escalation.kind].page} params={{ id: escalation.run_id }} className={buttonClass()}>
          Open the run
        </Link>
      </div>
    </section>
  );
}

function Unsent({ draft, onDiscard }: { draft: Draft; onDiscard: () => void }) {
  return (
    <div className="flex flex-col gap-2 rounded-md bg-waiting-chip p-2 text-waiting" data-unsent>
      <p className="font-medium">Your decision was not recorded. Your text is kept here:</p>
      {draft.guidance && (
        <textarea
          readOnly
          aria-label="Your unsent guidance"
          className="field"
          rows={4}
          value={draft.guidance}
        />
      )}
      {written(draft.comments).map((each) => (
        <p key={placeText(each)} className="theirs">
          <code>
            <UntrustedText text={placeText(each)} />
          </code>{" "}
          <UntrustedText text={each.body} />
        </p>
      ))}
      <Button onClick={onDiscard}>Discard</Button>
    </div>
  );
}
