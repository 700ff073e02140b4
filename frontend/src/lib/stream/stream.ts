/** The page's one connection for events: resumes every subscription by its cursor after each reconnect. */
import { createStore } from "@/lib/store";

import { takeInOrder } from "./cursor";
import { parseMessage, type ControlFrame, type RunEvent, type RunState } from "./frames";

export type Connection =
  | { readonly status: "connecting" }
  | { readonly status: "live" }
  /** `since`: milliseconds since the epoch; what is shown is at least as old as that. */
  | { readonly status: "lost"; readonly since: number }
  /** Coming back by itself would not help. */
  | { readonly status: "refused"; readonly since: number; readonly reason: string };

/** What takes a run's events; told of them in order, each exactly once. */
export interface RunSink {
  /** The last sequence that the sink has. */
  cursor: () => number;
  take: (events: readonly RunEvent[]) => void;
  /** Forget everything: numbering starts again behind `after`. */
  reset: (after: number) => void;
  /** The connection stands; the run's last sequence is `head`. */
  subscribed: (head: number) => void;
  gone: () => void;
}

export interface ListSink {
  changed: (state: RunState) => void;
  /** Changes may have been missed: fetch the lists anew. */
  resync: () => void;
}

export interface Socket {
  send: (text: string) => void;
  /** Give up the connection and make another. */
  reconnect: () => void;
  close: () => void;
}

export interface SocketEvents {
  open: () => void;
  message: (data: unknown) => void;
  closed: (code: number, reason: string) => void;
}

export interface StreamParts {
  connect: (events: SocketEvents) => Socket;
  /** Fetch a run's events behind a sequence, over HTTP. */
  fetchEvents: (runId: string, after: number) => Promise<readonly RunEvent[]>;
  list: ListSink;
}

const LIST = "runs";
/** The server sends a heartbeat every 15 s. */
const SILENCE_MS = 45_000;
const BATCH_MS = 40;
/** Close codes after which the same request would be refused again. */
const REFUSALS: ReadonlySet<number> = new Set([4401, 4403]);

interface Following {
  readonly sink: RunSink;
  readonly waiting: RunEvent[];
  refilling: boolean;
}

export class EventStream {
  readonly connection = createStore<Connection>({ status: "connecting" });
  readonly #parts: StreamParts;
  readonly #runs = new Map<string, Following>();
  /** Of each run, in which history its cursor was counted: another may have other events under its numbers. */
  readonly #epochs = new Map<string, string>();
  #socket: Socket | null = null;
  #isOpen = false;
  #heardAt = Date.now();
  #silence: ReturnType<typeof setTimeout> | undefined;
  #batch: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** Connect, or connect anew as the present user of the page. */
  start(): void {
    this.stop();
    this.connection.set({ status: "connecting" });
    this.#socket = this.#parts.connect({
      open: () => this.#opened(),
      message: (data) => this.#received(data),
      closed: (code, reason) => this.#closed(code, reason),
    });
  }

  stop(): void {
    clearTimeout(this.#silence);
    this.#socket?.close();
    this.#socket = null;
    this.#isOpen = false;
  }

  /** Try now instead of after the next pause. */
  retry(): void {
    if (this.#socket && this.connection.get().status === "lost") this.#socket.reconnect();
    else this.start();
  }

  /** Follow a run until the returned function is called. A run has one sink at a time. */
  follow(runId: string, sink: RunSink): () => void {
    const following: Following = { sink, waiting: [], refilling: false };
    this.#runs.set(runId, following);
    this.#subscribe(runId, following);
    return () => {
      if (this.#runs.get(runId) !== following) return;
      this.#runs.delete(runId);
      this.#send({ type: "unsubscribe", run: runId });
    };
  }

  #opened(): void {
    this.#isOpen = true;
    this.#heard();
    this.#send({ type: "subscribe", run: LIST });
    for (const [runId, following] of this.#runs) this.#subscribe(runId, following);
  }

  #subscribe(runId: string, following: Following): void {
    following.waiting.length = 0;
    this.#send({
      type: "subscribe",
      run: runId,
      after: following.sink.cursor(),
      epoch: this.#epochs.get(runId),
    });
  }

  #closed(code: number, reason: string): void {
    this.#isOpen = false;
    clearTimeout(this.#silence);
    const before = this.connection.get();
    const since = "since" in before ? before.since : this.#heardAt;
    if (REFUSALS.has(code)) {
      this.#socket?.close();
      this.#socket = null;
      this.connection.set({ status: "refused", since, reason });
    } else if (before.status !== "lost") {
      this.connection.set({ status: "lost", since });
    }
  }

  #received(data: unknown): void {
    this.#heard();
    const message = parseMessage(data);
    if (message.kind === "event") this.#queue(message.event);
    else if (message.kind === "frame") this.#control(message.frame);
  }

  #heard(): void {
    this.#heardAt = Date.now();
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#closed(0, "silence");
      this.#socket?.reconnect();
    }, SILENCE_MS);
  }

  #control(frame: ControlFrame): void {
    if (frame.type === "run") this.#parts.list.changed(frame.run as unknown as RunState);
    if (frame.type === "error" && frame.code === "not-found" && frame.run)
      this.#runs.get(frame.run)?.sink.gone();
    if (frame.type === "gone") this.#gone(frame.run);
    if (frame.type !== "subscribed") return;
    if (frame.run === LIST) {
      this.connection.set({ status: "live" });
      this.#parts.list.resync();
      return;
    }
    const following = this.#runs.get(frame.run);
    if (!following) return;
    if (frame.epoch) this.#epochs.set(frame.run, frame.epoch);
    if (frame.mode === "reset") {
      following.waiting.length = 0;
      following.sink.reset(frame.after);
    }
    following.sink.subscribed(frame.head);
  }

  /** A run that was not over is no longer there. */
  #gone(runId: string): void {
    this.#epochs.delete(runId);
    this.#runs.get(runId)?.sink.gone();
    this.#parts.list.resync();
  }

  #queue(event: RunEvent): void {
    const following = this.#runs.get(event.run_id);
    if (!following) return;
    following.waiting.push(event);
    this.#batch ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  #flush(): void {
    this.#batch = undefined;
    for (const [runId, following] of this.#runs) {
      if (following.waiting.length > 0 && !following.refilling) this.#deliver(runId, following);
    }
  }

  #deliver(runId: string, following: Following): void {
    const taken = takeInOrder(following.sink.cursor(), following.waiting.splice(0));
    if (taken.events.length > 0) following.sink.take(taken.events);
    if (taken.gap) void this.#refill(runId, following);
  }

  /** Fetch what is missing, then go on by the connection from there. */
  async #refill(runId: string, following: Following): Promise<void> {
    following.refilling = true;
    try {
      for (;;) {
        const page = await this.#parts.fetchEvents(runId, following.sink.cursor());
        const taken = takeInOrder(following.sink.cursor(), page);
        if (taken.events.length === 0) break;
        following.sink.take(taken.events);
      }
    } catch {
      // The connection says the same soon, and the cursor is asked for again then.
      this.#socket?.reconnect();
      return;
    } finally {
      following.refilling = false;
    }
    if (this.#runs.get(runId) === following) this.#subscribe(runId, following);
  }

  #send(frame: object): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(frame));
  }
}
