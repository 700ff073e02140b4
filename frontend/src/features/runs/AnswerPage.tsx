/** `/answers/:id`: a question, what it came to, and every attempt with its judgement, live. */
import { useQuery } from "@tanstack/react-query";

import { AnswerAttempt } from "@/components/AnswerAttempt";
import { type AnswerAttempt as Attempt, type AnswerDetail, answerQuery } from "@/lib/queries/answers";

import { AnswerResult } from "./components/AnswerResult";
import { AnswerInputs } from "./components/AnswerInputs";
import { NotYet, RunPage, useRunSearch } from "./components/RunPage";
import { answerCourse } from "./outcomes";

export function AnswerPage({ id }: { id: string }) {
  const answer = useQuery(answerQuery(id));
  if (!answer.data) return <NotYet title="Answer" query={answer} />;
  return <Loaded answer={answer.data} />;
}

function Loaded({ answer }: { answer: AnswerDetail }) {
  const named = useRunSearch().attempt;
  return (
    <RunPage
      run={answer}
      course={answerCourse(answer)}
      asks="Query"
      result={<AnswerResult answer={answer} />}
    >
      <section aria-labelledby="attempts" className="flex flex-col gap-3">
        <h2 id="attempts" className="font-semibold">
          Attempts (at most {answer.max_attempts})
        </h2>
        {answer.attempts.length === 0 && <p className="text-muted">No text yet.</p>}
        <Attempts attempts={answer.attempts} given={answer.entries.length} named={named} />
      </section>
      <AnswerInputs answer={answer} />
    </RunPage>
  );
}

interface AttemptsProps {
  attempts: readonly Attempt[];
  /** Pieces of evidence that came with the question. */
  given: number;
  /** The one that the address names. */
  named: number | undefined;
}

/** The named or the last one is open. The next one comes below it, and leaves open what is read. */
export function Attempts({ attempts, given, named }: AttemptsProps) {
  const first = named ?? attempts.at(-1)?.number;
  return attempts.map((each) => (
    <AnswerAttempt
      key={`${each.number} ${named === each.number}`}
      attempt={each}
      given={given}
      open={each.number === first}
    />
  ));
}
