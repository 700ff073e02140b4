/** What a verdict says to people and not to the agent, such as the messages of held-out tests. */
import { forReviewers } from "@/lib/evidence";
import type { Evaluation } from "@/lib/queries/runs";

import { UntrustedBlock } from "./UntrustedBlock";

export function ForReviewers({ metadata }: { metadata: Evaluation["metadata"] }) {
  const hidden = forReviewers(metadata);
  if (!hidden) return null;
  return (
    <section aria-label="For reviewers" className="rounded-md border border-line p-2" data-for-reviewers>
      <p className="font-medium">For reviewers: the agent does not see this</p>
      <UntrustedBlock text={hidden} className="mt-1" />
    </section>
  );
}
