/** One attempt at an answer: its text, the four dimensions, the feedback, and what it was written from. */
import { Cost } from "@/components/Cost";
import { Disclosure } from "@/components/Disclosure";
import { Elapsed } from "@/components/RelativeTime";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import type { Schemas } from "@/lib/api/client";
import { lacking } from "@/lib/dimensions";
import { plural } from "@/lib/format";
import type { AnswerAttempt as Attempt } from "@/lib/queries/answers";
import { plainLines } from "@/lib/text/ansi";

import { UntrustedList } from "./UntrustedList";

interface Props {
  attempt: Attempt;
  /** Pieces of evidence that came with the question. */
  given: number;
  open: boolean;
}

export function AnswerAttempt({ attempt, given, open }: Props) {
  const lacks = lacking(attempt);
  const summary = (
    <span className="inline-flex flex-wrap items-center gap-x-3">
      <span className="font-medium text-ink">Attempt {attempt.number}</span>
      <StatusBadge status={attempt.status} />
      {lacks.length > 0 && <span>insufficient: {lacks.join(", ")}</span>}
    </span>
  );
  return (
    <Disclosure className="card" summaryClass="px-3 py-1.5 text-muted" open={open} summary={summary}>
      {() => (
        <div className="flex flex-col gap-3 border-t border-line p-3" data-attempt={attempt.number}>
          {attempt.trouble && <UntrustedBlock text={attempt.trouble} />}
          <UntrustedBlock text={attempt.answer ?? ""} empty="No text yet." />
          <Judgement evaluation={attempt.evaluation} />
          <Sources attempt={attempt} given={given} />
          <Facts attempt={attempt} />
        </div>
      )}
    </Disclosure>
  );
}

function Judgement({ evaluation }: { evaluation: Attempt["evaluation"] }) {
  if (!evaluation) return <p className="text-muted">Not evaluated.</p>;
  return (
    <>
      <ul className="grid gap-2 md:grid-cols-2" aria-label="Dimensions">
        {evaluation.dimensions.map((each) => (
          <Dimension key={each.dimension} dimension={each} />
        ))}
      </ul>
      {evaluation.feedback.length > 0 && <Feedback feedback={evaluation.feedback} />}
      <p className="text-muted">Recommendation: {evaluation.recommendation.replaceAll("_", " ")}</p>
    </>
  );
}

function Dimension({ dimension }: { dimension: Schemas["EvaluationDimension"] }) {
  const isGood = dimension.verdict === "SUFFICIENT";
  return (
    <li className="rounded-md border border-line p-2" data-dimension={dimension.dimension}>
      <p className="flex flex-wrap gap-x-3">
        <span className="font-medium capitalize">{dimension.dimension}</span>
        <StatusBadge status={isGood ? "passed" : "failed"} word={isGood ? "sufficient" : "insufficient"} />
      </p>
      <p className="theirs">{plainLines(dimension.reasoning)}</p>
      {dimension.issues.length > 0 && (
        <ul className="list-disc pl-5">
          {dimension.issues.map((each, index) => (
            <li key={index} className="theirs">
              {plainLines(each)}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Feedback({ feedback }: { feedback: readonly Schemas["EvaluationFeedback"][] }) {
  return (
    <div>
      <p className="font-medium">Suggestions</p>
      <ul className="list-disc pl-5">
        {feedback.map((each, index) => (
          <li key={index}>
            <span className="theirs">{plainLines(each.issue)}</span>
            <span className="theirs block text-muted">{plainLines(each.suggestion)}</span>
            {each.affected_claim && (
              <span className="theirs block text-muted">Claim: “{plainLines(each.affected_claim)}”</span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Sources({ attempt, given }: { attempt: Attempt; given: number }) {
  const { analysis, found } = attempt;
  const hasAnalysis = Boolean(analysis.summary) || analysis.findings.length + analysis.gaps.length > 0;
  return (
    <>
      <p>
        {attempt.entries === 1 ? "1 piece" : `${attempt.entries} pieces`} of evidence: {given} given,{" "}
        {found.length} looked up.
      </p>
      {found.length > 0 && (
        <Disclosure summary={`Looked up: ${plural(found.length, "passage")}`}>
          {() => found.map((each, index) => <UntrustedBlock key={index} text={each} />)}
        </Disclosure>
      )}
      {hasAnalysis && (
        <Disclosure summary="Analysis">
          {() => (
            <div className="flex flex-col gap-2">
              {analysis.summary && <UntrustedBlock text={analysis.summary} />}
              {analysis.findings.map((each, index) => (
                <UntrustedList
                  key={index}
                  title={plainLines(each.claim)}
                  items={each.evidence.length > 0 ? each.evidence : ["no evidence"]}
                />
              ))}
              {analysis.gaps.length > 0 && (
                <UntrustedList title="Gaps in the evidence" items={analysis.gaps} />
              )}
            </div>
          )}
        </Disclosure>
      )}
    </>
  );
}

function Facts({ attempt }: { attempt: Attempt }) {
  return (
    <p className="flex flex-wrap gap-x-6 text-muted">
      {attempt.models.length > 0 && (
        <span>
          By <UntrustedText text={attempt.models.join(", ")} />
        </span>
      )}
      <span>
        Took <Elapsed from={attempt.started_at} to={attempt.completed_at} />
      </span>
      <span>
        Cost <Cost usage={attempt.consumed} />
      </span>
      {attempt.lost_workers > 0 && <span>{plural(attempt.lost_workers, "lost worker")}</span>}
    </p>
  );
}
