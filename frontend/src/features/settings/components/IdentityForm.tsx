/** Who uses this browser. A token is checked before it is kept; then the page says what its role may do. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { Button } from "@/components/Button";
import { explain, needsToken } from "@/components/states";
import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { identity } from "@/lib/identity";
import { checkToken, meQuery, type Role } from "@/lib/queries/me";
import { useStore } from "@/lib/store";

const FIELD = "min-h-8 rounded-md border border-line bg-raised px-2";
const MAY: Record<Role, string> = {
  viewer: "You can look at everything.",
  operator: "You can look at everything, and start, pause and cancel runs.",
  reviewer: "You can look at everything, start and stop runs, decide escalations and mark verdicts.",
  admin: "You can do everything, also manage tokens.",
};

/** `back` is where the user came from to enter a token. */
export function IdentityForm({ back }: { back?: string | undefined }) {
  const kept = useStore(identity);
  const router = useRouter();
  const [name, setName] = useState(kept.name);
  const [token, setToken] = useState(kept.token);
  const save = useMutation({
    mutationFn: () => checkToken(token.trim()),
    onSuccess: () => {
      identity.set({ name, token });
      if (back !== undefined) router.history.push(back);
    },
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  }

  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Me token={kept.token} />
      <label className="flex flex-col gap-1">
        Name
        <input
          className={FIELD}
          value={name}
          maxLength={100}
          autoComplete="name"
          onChange={(event) => setName(event.target.value)}
        />
        <span className="text-muted">Recorded with your decisions if the service requires no token.</span>
      </label>
      <label className="flex flex-col gap-1">
        API token
        <input
          className={FIELD}
          type="password"
          value={token}
          maxLength={200}
          autoComplete="off"
          aria-invalid={save.isError}
          onChange={(event) => setToken(event.target.value)}
        />
        <span className="text-muted">
          Create one with <code>phaserunner tokens create NAME --role reviewer</code>. Only this browser keeps
          it.
        </span>
      </label>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" weight="primary" disabled={save.isPending}>
          {save.isPending ? "Checking …" : "Save"}
        </Button>
        <span role="status">{save.isSuccess && "Saved"}</span>
        {save.error && (
          <span role="alert" className="theirs text-failed">
            Not saved: <UntrustedText text={explain(save.error, "check the token").text} />
          </span>
        )}
      </div>
    </form>
  );
}

function Me({ token }: { token: string }) {
  const { data, error } = useQuery({ ...meQuery(token), retry: false });
  if (data) {
    return (
      <p data-me>
        You are <strong className="theirs">{<UntrustedText text={data.name} />}</strong>, with the role{" "}
        <strong>{data.role}</strong>. <span className="text-muted">{MAY[data.role]}</span>
      </p>
    );
  }
  if (!error) return null;
  if (!needsToken(error)) {
    return (
      <p data-me>
        <StatusBadge status="errored" word="Who you are is not known now." />{" "}
        <UntrustedText text={explain(error, "ask who you are").text} />
      </p>
    );
  }
  return (
    <p data-me>
      <StatusBadge status="failed" word="The service does not know you." /> Enter a token.
    </p>
  );
}
