/** Tests that no agent sees: a patch or a share of the base's own, and what the agent learns when they fail. */
import type { FieldsProps } from "../fields-props";
import { differs } from "../start-form";
import { Field } from "./Field";
import { FormPart } from "./FormPart";

const FIELDS = ["heldOut", "heldOutShare", "heldOutFeedback"] as const;

export function HeldOutFields({ fields, change, errorOf }: FieldsProps) {
  const error = errorOf("held_out.patch") || errorOf("held_out");
  const shareError = errorOf("held_out.share");
  const told = errorOf("policy.held_out_feedback");

  async function read(file: File | undefined): Promise<void> {
    if (file) change({ heldOut: await file.text() });
  }

  return (
    <FormPart
      title="Held-out tests"
      hasNews={[error, shareError, told].some((each) => each !== "")}
      isFilled={differs(fields, FIELDS)}
    >
      <div className="mt-3 flex flex-col gap-3">
        <p className="text-muted">
          No agent sees these tests. They judge each attempt, and work that only fits the visible tests fails.
        </p>
        <Field
          label="Share of test cases to hide"
          hint="Such as 0.3: of ten rows of a table, the agent sees seven. The goal names the test file. If empty, the project or the service decides; 0 hides none."
          error={shareError}
        >
          <input
            inputMode="decimal"
            value={fields.heldOutShare}
            onChange={(event) => change({ heldOutShare: event.target.value })}
          />
        </Field>
        <Field
          label="Patch with tests"
          hint="A unified diff against the base, as git diff writes it. It may add and change tests only."
          error={error}
        >
          <textarea
            rows={6}
            spellCheck={false}
            className="font-mono"
            value={fields.heldOut}
            onChange={(event) => change({ heldOut: event.target.value })}
          />
        </Field>
        <div className="grid gap-3 md:grid-cols-2">
          <Field label="Patch from a file">
            <input
              type="file"
              accept=".patch,.diff,text/plain"
              onChange={(event) => void read(event.target.files?.[0])}
            />
          </Field>
          <Field label="The agent learns" error={told}>
            <select
              value={fields.heldOutFeedback}
              onChange={(event) =>
                change({ heldOutFeedback: event.target.value as typeof fields.heldOutFeedback })
              }
            >
              <option value="">The names of failing tests</option>
              <option value="none">Only that held-out tests fail</option>
              <option value="messages">What failing tests report, with what they expect</option>
            </select>
          </Field>
        </div>
      </div>
    </FormPart>
  );
}
