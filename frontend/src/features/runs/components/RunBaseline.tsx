/** What the base's tests did before the run changed anything: one line, and the tests that do not pass. */
import { Disclosure } from "@/components/Disclosure";
import { UntrustedText } from "@/components/UntrustedText";
import type { Schemas } from "@/lib/api/client";
import { plural } from "@/lib/format";

type Summary = Schemas["BaselineSummary"];

export function RunBaseline({ baseline }: { baseline: Summary }) {
  const named = namedTests(baseline);
  if (named.length === 0)
    return (
      <p>
        <Said baseline={baseline} />
      </p>
    );
  const left = baseline.red + baseline.unreadable + baseline.flaky - named.length;
  return (
    <Disclosure summary={<Said baseline={baseline} />} summaryClass="">
      {() => (
        <ul className="mt-1 flex flex-col gap-1">
          {named.map((each) => (
            <li key={`${each.kind} ${each.id}`}>
              {each.kind}: <UntrustedText text={each.id} className="font-mono" />
              <pre className="theirs text-muted whitespace-pre-wrap">
                <UntrustedText text={each.message} />
              </pre>
            </li>
          ))}
          {left > 0 && <li>and {plural(left, "more test")}</li>}
          {baseline.red > 0 && (
            <li className="text-muted">
              To let tests stay red without a question each time, list them as <code>known_failures</code>{" "}
              below <code>[tests]</code> in <code>phaserunner.toml</code>, or say so when you answer a
              question about them.
            </li>
          )}
        </ul>
      )}
    </Disclosure>
  );
}

function Said({ baseline }: { baseline: Summary }) {
  return (
    <>
      <span className="text-muted">Baseline:</span> <UntrustedText text={baseline.note} />
    </>
  );
}

/** Tests that do not pass at the base, red ones first. */
function namedTests(baseline: Summary) {
  return [
    ...baseline.red_tests.map((each) => ({
      ...each,
      kind: each.needs_network ? "Red, needs a network" : "Red",
    })),
    ...baseline.unreadable_files.map((each) => ({ ...each, kind: "Unreadable" })),
    ...baseline.flaky_tests.map((each) => ({
      ...each,
      kind: `Flaky, ${each.failed} of ${each.runs} runs failed`,
    })),
  ];
}
