/** What a loop is to do: its task, who plays which part, when it ends, and its inputs. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Disclosure } from "@/components/Disclosure";
import { UntrustedText } from "@/components/UntrustedText";
import { UntrustedBlock } from "@/components/UntrustedBlock";
import type { Schemas } from "@/lib/api/client";
import type { LoopDetail } from "@/lib/queries/loops";

export function LoopDefinition({ loop }: { loop: LoopDetail }) {
  const { definition } = loop;
  const inputs = Object.entries(loop.inputs);
  return (
    <section aria-labelledby="definition" className="card flex min-w-0 flex-col gap-2 p-3">
      <h2 id="definition" className="font-semibold">
        Definition
      </h2>
      <UntrustedBlock text={definition.description} />
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <Row name="Iterations">at most {definition.max_iterations}</Row>
        {definition.termination_condition && (
          <Row name="Ends when">
            <code className="theirs">
              <UntrustedText text={definition.termination_condition.condition} />
            </code>
          </Row>
        )}
        <Row name="Director">
          <Role role={definition.director} />
        </Row>
        {definition.script_execution && (
          <Row name="Script">
            <code className="theirs">
              <UntrustedText text={definition.script_execution.command} />
            </code>
          </Row>
        )}
        <Row name="Evaluator">
          <Role role={definition.evaluator} />
        </Row>
        {definition.output_file && (
          <Row name="Output file">
            <code className="theirs">
              <UntrustedText text={definition.output_file} />
            </code>
          </Row>
        )}
        {loop.parent_run_id && (
          <Row name="Parent">
            <Link to="/loops/$id" params={{ id: loop.parent_run_id }}>
              the loop <code>{loop.parent_run_id.slice(0, 8)}</code>
            </Link>
          </Row>
        )}
      </dl>
      <h3 className="font-medium">Inputs</h3>
      {inputs.length === 0 && <p className="text-muted">No inputs.</p>}
      {inputs.map(([name, value]) => (
        <Disclosure key={name} open={value.length < 300} summary={<UntrustedText text={name} />}>
          {() => <UntrustedBlock text={value} empty="Empty." />}
        </Disclosure>
      ))}
    </section>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

function Role({ role }: { role: Schemas["RoleDefinition"] }) {
  const by = role.evaluators.length > 0 ? role.evaluators.join(", ") : role.model;
  return (
    <>
      <p className="theirs">
        <UntrustedText text={role.description} />
      </p>
      {by && (
        <p className="text-muted">
          by <UntrustedText text={by} />
        </p>
      )}
    </>
  );
}
