/** What evaluators found in one line of a diff. */
import { Button } from "@/components/Button";
import { UntrustedText } from "@/components/UntrustedText";
import { type Finding, findingId } from "@/lib/diff/findings";

interface Props {
  /** At least one; all of the same line. */
  findings: readonly Finding[];
  /** None where there is no guidance to write. */
  onCopy: ((finding: Finding) => void) | undefined;
}

export function FindingBox({ findings, onCopy }: Props) {
  const [first] = findings;
  if (!first) return null;
  return (
    <ul
      id={findingId(first.path, first.line)}
      aria-label={`Findings in line ${first.line}`}
      className="scroll-mt-28 border-y border-line bg-raised p-2 font-sans"
      data-finding={`${first.path}:${first.line}`}
    >
      {findings.map((each) => (
        <li key={each.evaluator} className="flex flex-wrap items-center gap-x-3 gap-y-1">
          {onCopy ? (
            <a href={`#verdict-${each.evaluator}`} className="font-medium text-failed underline">
              {each.evaluator}
            </a>
          ) : (
            <span className="font-medium text-failed">{each.evaluator}</span>
          )}
          <span className="theirs min-w-0 flex-1">
            <UntrustedText text={each.text} />
          </span>
          {onCopy && <Button onClick={() => onCopy(each)}>Copy into guidance</Button>}
        </li>
      ))}
    </ul>
  );
}
