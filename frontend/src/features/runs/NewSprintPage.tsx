/** `/new`: starts a sprint; the same can be copied as a curl call and as a command line. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";

import { Button } from "@/components/Button";
import { CopyMenu } from "@/components/CopyMenu";
import { PageHeader } from "@/components/PageHeader";
import { explain } from "@/components/states";
import { ApiError } from "@/lib/api/errors";
import { curl } from "@/lib/commands";
import { identity } from "@/lib/identity";
import { keys } from "@/lib/queries/keys";
import { type SprintCreate, startSprint } from "@/lib/queries/sprints";

import { AgentFields } from "./components/AgentFields";
import { BasicFields } from "./components/BasicFields";
import { PolicyFields } from "./components/PolicyFields";
import { commandOf, EMPTY_FIELDS, requestOf, type StartFields } from "./start-form";

export interface FieldsProps {
  fields: StartFields;
  change: (part: Partial<StartFields>) => void;
  errorOf: (field: string) => string;
}

export function NewSprintPage() {
  const [fields, setFields] = useState(EMPTY_FIELDS);
  const form = useRef<HTMLFormElement>(null);
  const client = useQueryClient();
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: ({ body, key }: { body: SprintCreate; key: string }) => startSprint(body, key),
    onSuccess(sprint) {
      void client.invalidateQueries({ queryKey: keys.runs });
      void navigate({ to: "/sprints/$id", params: { id: sprint.id } });
    },
  });
  const refused = start.error instanceof ApiError ? start.error : null;
  const change = (part: Partial<StartFields>) => setFields((before) => ({ ...before, ...part }));
  const errorOf = (field: string) => refused?.messageFor(field) ?? "";

  useEffect(() => {
    if (start.error) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [start.error]);

  function submit(event: FormEvent): void {
    event.preventDefault();
    start.mutate({ body: requestOf(fields), key: crypto.randomUUID?.() ?? String(Math.random()) });
  }

  return (
    <div className="mx-auto max-w-3xl">
      <PageHeader title="New sprint" actions={<CopyMenu items={copies(fields)} label="Copy as" />} />
      <form ref={form} onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <BasicFields fields={fields} change={change} errorOf={errorOf} />
        <AgentFields fields={fields} change={change} errorOf={errorOf} />
        <PolicyFields fields={fields} change={change} errorOf={errorOf} />
        {start.isError && <Refusal error={start.error} />}
        <div className="flex items-center gap-3">
          <Button type="submit" weight="primary" disabled={start.isPending}>
            {start.isPending ? "Starting …" : "Start the sprint"}
          </Button>
          <span className="text-muted">Your repository is read, never written.</span>
        </div>
      </form>
    </div>
  );
}

function Refusal({ error }: { error: unknown }) {
  const { title, text } = explain(error, "start the sprint");
  return (
    <div role="alert" className="card border-failed p-3" data-state="error">
      <p className="font-medium text-failed">{title}</p>
      <p className="theirs">{text}</p>
    </div>
  );
}

function copies(fields: StartFields) {
  const asCurl = {
    label: "curl",
    text: () => curl(location.origin, "POST", "/api/v1/sprints", requestOf(fields), identity.get().token !== ""),
  };
  const line = commandOf(fields);
  return line === null ? [asCurl] : [asCurl, { label: "Command", text: () => line }];
}
