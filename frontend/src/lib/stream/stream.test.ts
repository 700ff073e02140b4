import { beforeEach, describe, expect, it, vi } from "vitest";

import type { RunEvent } from "./frames";
import { EventStream, type RunSink, type Socket, type SocketEvents } from "./stream";

const RUN = "run-1";

function event(sequence: number): RunEvent {
  return {
    event: "workflow.status",
    run_id: RUN,
    sprint_id: RUN,
    sequence,
    timestamp: "2026-01-01T00:00:00Z",
    data: { status: "active" },
  } as unknown as RunEvent;
}

/** A service that can be told to go away, lose and repeat. */
class FakeService {
  readonly sent: { type: string; run: string; after?: number; epoch?: string }[] = [];
  events!: SocketEvents;
  reconnects = 0;
  closed = false;

  readonly connect = (events: SocketEvents): Socket => {
    this.events = events;
    this.closed = false;
    return {
      send: (text) => this.sent.push(JSON.parse(text)),
      reconnect: () => (this.reconnects += 1),
      close: () => (this.closed = true),
    };
  };

  say(message: object): void {
    this.events.message(JSON.stringify(message));
  }

  open(): void {
    this.events.open();
    this.say({ type: "subscribed", run: "runs", head: 0, after: 0, mode: "reset" });
  }

  get subscriptions() {
    return this.sent
      .filter((each) => each.type === "subscribe" && each.run === RUN)
      .map((each) => each.after);
  }
}

class FakeSink implements RunSink {
  taken: number[] = [];
  after = 0;
  heads: number[] = [];
  readonly cursor = () => this.taken.at(-1) ?? this.after;
  readonly take = (events: readonly RunEvent[]) =>
    void this.taken.push(...events.map((each) => each.sequence));
  readonly subscribed = (head: number) => void this.heads.push(head);
  readonly gone = vi.fn();

  reset = (after: number) => {
    this.taken = [];
    this.after = after;
  };
}

function setUp(stored: readonly RunEvent[] = []) {
  const service = new FakeService();
  const sink = new FakeSink();
  const resync = vi.fn();
  const fetchEvents = vi.fn((_: string, after: number) =>
    Promise.resolve(stored.filter((each) => each.sequence > after)),
  );
  const stream = new EventStream({
    connect: service.connect,
    fetchEvents,
    list: { changed: vi.fn(), resync },
  });
  stream.start();
  const stop = stream.follow(RUN, sink);
  return { service, sink, stream, fetchEvents, resync, stop };
}

const settle = () => vi.advanceTimersByTimeAsync(100);

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

describe("EventStream", () => {
  it("delivers in order, drops what it has, and resumes by its cursor", async () => {
    const { service, sink, stream } = setUp();
    service.open();
    expect(service.subscriptions).toEqual([0]);
    for (const sequence of [1, 2, 2, 3]) service.say(event(sequence));
    await settle();
    expect(sink.taken).toEqual([1, 2, 3]);

    service.events.closed(1006, "");
    expect(stream.connection.get()).toMatchObject({ status: "lost" });
    service.open();
    expect(stream.connection.get()).toEqual({ status: "live" });
    expect(service.subscriptions).toEqual([0, 3]);
    for (const sequence of [2, 3, 4]) service.say(event(sequence));
    await settle();
    expect(sink.taken).toEqual([1, 2, 3, 4]);
  });

  it("fetches what a gap hides, then goes on by the connection", async () => {
    const stored = [1, 2, 3, 4, 5].map(event);
    const { service, sink, fetchEvents } = setUp(stored);
    service.open();
    service.say(event(1));
    service.say(event(4));
    await settle();
    expect(fetchEvents).toHaveBeenCalledWith(RUN, 1);
    expect(sink.taken).toEqual([1, 2, 3, 4, 5]);
    expect(service.subscriptions).toEqual([0, 5]);
  });

  it("forgets on reset", async () => {
    const { service, sink } = setUp();
    service.open();
    service.say(event(1));
    await settle();
    service.say({ type: "subscribed", run: RUN, head: 12, after: 10, mode: "reset" });
    service.say(event(11));
    await settle();
    expect(sink.taken).toEqual([11]);
    expect(sink.heads).toEqual([12]);
  });

  it("says in which history its cursor was counted", async () => {
    const { service, sink } = setUp();
    const epochs = () => service.sent.filter((each) => each.run === RUN).map((each) => each.epoch);
    service.open();
    service.say({ type: "subscribed", run: RUN, head: 1, after: 0, epoch: "before", mode: "resumed" });
    service.say(event(1));
    await settle();
    service.events.closed(1012, "the service restarts");
    service.open();
    expect(epochs()).toEqual([undefined, "before"]);

    service.say({ type: "subscribed", run: RUN, head: 1, after: 0, epoch: "restored", mode: "reset" });
    service.say(event(1));
    await settle();
    expect(sink.taken).toEqual([1]);
    service.open();
    expect(epochs()).toEqual([undefined, "before", "restored"]);
  });

  it("says of a run that was deleted that it is gone, and fetches the lists anew", () => {
    const { service, sink, resync } = setUp();
    service.open();
    service.say({ type: "gone", run: "another" });
    expect(sink.gone).not.toHaveBeenCalled();
    service.say({ type: "gone", run: RUN });
    expect(sink.gone).toHaveBeenCalledOnce();
    expect(resync).toHaveBeenCalledTimes(3);
  });

  it("keeps the time of the first loss over failed tries", async () => {
    const { service, stream } = setUp();
    service.open();
    const heardAt = Date.now();
    await vi.advanceTimersByTimeAsync(5_000);
    service.events.closed(1006, "");
    await vi.advanceTimersByTimeAsync(5_000);
    service.events.closed(1006, "");
    expect(stream.connection.get()).toEqual({ status: "lost", since: heardAt });
  });

  it("takes 45 s of silence for a lost connection", async () => {
    const { service, stream } = setUp();
    service.open();
    await vi.advanceTimersByTimeAsync(44_000);
    service.say({ type: "heartbeat" });
    await vi.advanceTimersByTimeAsync(44_000);
    expect(stream.connection.get()).toEqual({ status: "live" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(stream.connection.get()).toMatchObject({ status: "lost" });
    expect(service.reconnects).toBe(1);
  });

  it.each([4401, 4403])("does not come back by itself after %i", (code) => {
    const { service, stream } = setUp();
    service.open();
    service.events.closed(code, "send a valid token");
    expect(stream.connection.get()).toMatchObject({ status: "refused", reason: "send a valid token" });
    expect(service.closed).toBe(true);
  });

  it("refetches lists on each connection, and ignores what it does not understand", async () => {
    const { service, sink, resync } = setUp();
    service.open();
    service.open();
    expect(resync).toHaveBeenCalledTimes(2);
    service.events.message("not json");
    service.say({ type: "new", run: RUN });
    service.say({ event: "new.type" });
    service.say({ ...event(1), sequence: -1 });
    await settle();
    expect(sink.taken).toEqual([]);
  });

  it("delivers nothing after a sink has left", async () => {
    const { service, sink, stop } = setUp();
    service.open();
    stop();
    service.say(event(1));
    await settle();
    expect(sink.taken).toEqual([]);
    expect(service.sent.at(-1)).toEqual({ type: "unsubscribe", run: RUN });
  });
});
