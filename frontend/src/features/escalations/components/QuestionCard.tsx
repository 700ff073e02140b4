/** What the service asks about one changed test: the sentence, and both versions side by side. */
import { CodeSpans } from "@/components/CodeSpans";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import { UntrustedText } from "@/components/UntrustedText";
import type { EscalationDetail } from "@/lib/queries/escalations";

export type Question = EscalationDetail["questions"][number];

export function QuestionCard({ question }: { question: Question }) {
  const { id, kind, text, why, before = "", after = "" } = question;
  // A doubt about new code has no other side.
  const hasFirst = before || kind !== "doubtful";
  return (
    <section
      aria-label={`Question about ${id}`}
      className="@container card flex flex-col gap-2 p-3"
      data-question={id}
    >
      <h3 className="theirs mono text-muted">
        <UntrustedText text={id} />
      </h3>
      <p className="theirs font-medium">
        <CodeSpans text={text} />
      </p>
      {why && (
        <p className="theirs text-muted">
          <CodeSpans text={why} />
        </p>
      )}
      {(before || after) && (
        <div className="grid gap-2 @xl:grid-cols-2">
          {hasFirst && (
            <Source
              title={question.before_heading}
              text={before}
              empty="Did not exist."
              tint="bg-removed-tint"
            />
          )}
          <Source title={question.after_heading} text={after} empty="Removed." tint="bg-added-tint" />
        </div>
      )}
    </section>
  );
}

interface SourceProps {
  title: string;
  text: string;
  empty: string;
  tint: string;
}

function Source({ title, text, empty, tint }: SourceProps) {
  return (
    <div role="group" aria-label={title} className={`min-w-0 rounded-md border border-line p-2 ${tint}`}>
      <p className="font-medium">{title}</p>
      <UntrustedBlock text={text} empty={empty} />
    </div>
  );
}
