/** Parses what comes over the event socket: an event, a control frame, or something to ignore. */
import * as z from "zod/mini";

import type { Schemas } from "@/lib/api/client";

export type RunEvent = Schemas["EventPage"]["events"][number];
export type RunState = Schemas["RunState"];

/** Only the envelope is checked: `data` is the server's own, described by the generated types. */
const envelope = z.looseObject({
  event: z.string(),
  run_id: z.string(),
  sequence: z.int().check(z.positive()),
  timestamp: z.string(),
  data: z.looseObject({}),
});

const frame = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("subscribed"),
    run: z.string(),
    head: z.int(),
    after: z.int(),
    epoch: z.optional(z.nullable(z.string())),
    mode: z.enum(["resumed", "reset"]),
  }),
  z.looseObject({ type: z.literal("gone"), run: z.string() }),
  z.looseObject({ type: z.literal("unsubscribed"), run: z.string() }),
  z.looseObject({ type: z.literal("heartbeat"), run: z.optional(z.string()), head: z.optional(z.int()) }),
  z.looseObject({
    type: z.literal("error"),
    code: z.string(),
    detail: z.string(),
    run: z.optional(z.nullable(z.string())),
  }),
  z.looseObject({
    type: z.literal("run"),
    run: z.looseObject({ run_id: z.string(), last_sequence: z.int(), version: z.int(), status: z.string() }),
  }),
]);

export type ControlFrame = z.infer<typeof frame>;

export type Message =
  | { kind: "event"; event: RunEvent }
  | { kind: "frame"; frame: ControlFrame }
  /** New servers send types that this page does not know. */
  | { kind: "unknown" };

export function parseMessage(text: unknown): Message {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    return { kind: "unknown" };
  }
  const asEvent = envelope.safeParse(value);
  if (asEvent.success) return { kind: "event", event: asEvent.data as unknown as RunEvent };
  const asFrame = frame.safeParse(value);
  return asFrame.success ? { kind: "frame", frame: asFrame.data } : { kind: "unknown" };
}
