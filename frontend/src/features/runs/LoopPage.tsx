/** `/loops/:id`: a director-evaluator loop, what it came to, and every iteration, live. */
import { useQuery } from "@tanstack/react-query";

import { LoopIteration } from "@/components/LoopIteration";
import { type Iteration, type LoopDetail, loopQuery } from "@/lib/queries/loops";

import { LoopDefinition } from "./components/LoopDefinition";
import { LoopResult } from "./components/LoopResult";
import { NotYet, RunPage, useRunSearch } from "./components/RunPage";
import { Subtasks } from "./components/Subtasks";
import { loopCourse } from "./outcomes";

export function LoopPage({ id }: { id: string }) {
  const loop = useQuery(loopQuery(id));
  if (!loop.data) return <NotYet title="Loop" query={loop} />;
  return <Loaded loop={loop.data} />;
}

function Loaded({ loop }: { loop: LoopDetail }) {
  const named = useRunSearch().attempt;
  const result = (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <LoopResult loop={loop} />
      <LoopDefinition loop={loop} />
    </div>
  );
  return (
    <RunPage run={loop} course={loopCourse(loop)} asks="Query" result={result}>
      <Subtasks nodes={loop.subtasks} />
      <section aria-labelledby="iterations" className="flex flex-col gap-3">
        <h2 id="iterations" className="font-semibold">
          Iterations (at most {loop.max_attempts})
        </h2>
        {loop.iterations.length === 0 && <p className="text-muted">No iterations yet.</p>}
        <Iterations iterations={loop.iterations} named={named} />
      </section>
    </RunPage>
  );
}

interface IterationsProps {
  iterations: readonly Iteration[];
  /** The one that the address names. */
  named: number | undefined;
}

/** The named or the last one is open. The next one comes below it, and leaves open what is read. */
export function Iterations({ iterations, named }: IterationsProps) {
  const first = named ?? iterations.at(-1)?.iteration;
  return iterations.map((each) => (
    <LoopIteration
      key={`${each.iteration} ${named === each.iteration}`}
      iteration={each}
      open={each.iteration === first}
    />
  ));
}
