/** `/answers/:id`: the same page, for a run of another kind. */
import { SprintPage } from "./SprintPage";

export function AnswerPage({ id }: { id: string }) {
  return <SprintPage id={id} />;
}
