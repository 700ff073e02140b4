/** `/settings`: what this browser keeps: theme, notifications, who you are. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Button } from "@/components/Button";
import { PageHeader } from "@/components/PageHeader";
import { notifications, type NoticeState } from "@/lib/notifications";
import { infoQuery } from "@/lib/queries/service";
import { useStore } from "@/lib/store";
import { theme, type Theme } from "@/lib/theme";

import { IdentityForm } from "./components/IdentityForm";

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "System default" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];
const NOTICES: Record<NoticeState, string> = {
  on: "You get a notification when a run needs a person and this tab is in the background.",
  off: "Notifications are off. The page title counts the runs that need a person.",
  denied: "Notifications are blocked. Allow them in your browser's site settings.",
  unsupported: "This browser cannot show notifications here. They need HTTPS.",
};

export function SettingsPage({ back }: { back?: string | undefined }) {
  const chosen = useStore(theme);
  const notice = useStore(notifications);
  const info = useQuery(infoQuery);
  return (
    <div className="mx-auto max-w-2xl">
      <PageHeader title="Settings" />
      <Section title="Appearance">
        <fieldset className="flex flex-wrap gap-4">
          <legend className="sr-only">Theme</legend>
          {THEMES.map((each) => (
            <label key={each.value} className="flex min-h-8 items-center gap-2">
              <input
                type="radio"
                name="theme"
                checked={chosen === each.value}
                onChange={() => theme.set(each.value)}
              />
              {each.label}
            </label>
          ))}
        </fieldset>
      </Section>
      <Section title="Notifications">
        <p className="mb-2 text-muted">{NOTICES[notice]}</p>
        {notice === "off" && <Button onClick={() => void notifications.turnOn()}>Turn on</Button>}
        {notice === "on" && <Button onClick={() => notifications.turnOff()}>Turn off</Button>}
      </Section>
      <Section title="Your identity">
        <IdentityForm back={back} />
      </Section>
      {info.data && (
        <Section title="Service">
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
            <dt className="text-muted">Version</dt>
            <dd>{info.data.version}</dd>
            <dt className="text-muted">Default agent</dt>
            <dd>
              {info.data.default_agent}
              {!info.data.default_agent_ready && " (no API key configured)"}
            </dd>
            <dt className="text-muted">Evaluator model</dt>
            <dd>{info.data.evaluator_model}</dd>
            <dt className="text-muted">Attempts per phase</dt>
            <dd>{info.data.max_attempts}</dd>
          </dl>
        </Section>
      )}
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card mb-4 p-4">
      <h2 className="mb-3 font-semibold">{title}</h2>
      {children}
    </section>
  );
}
