/** A socket to the service's event stream that comes back by itself. */
import ReconnectingWebSocket from "partysocket/ws";

import { identity } from "@/lib/identity";

import type { Socket, SocketEvents } from "./stream";

const PATH = "/api/v1/ws";

export function connectSocket(events: SocketEvents): Socket {
  const address = () => location.origin.replace(/^http/, "ws") + PATH;
  // Browsers cannot set headers on a WebSocket; asked for at each connection, as the token may be new.
  const protocols = () => {
    const { token } = identity.get();
    return token ? ["phaserunner", `bearer.${token}`] : null;
  };
  const socket = new ReconnectingWebSocket(address, protocols, {
    minReconnectionDelay: 250 + Math.random() * 250,
    maxReconnectionDelay: 5_000,
    reconnectionDelayGrowFactor: 1.7,
    connectionTimeout: 5_000,
    maxEnqueuedMessages: 0,
  });
  socket.addEventListener("open", () => events.open());
  socket.addEventListener("message", (message) => events.message(message.data));
  socket.addEventListener("close", (closed) => events.closed(closed.code, closed.reason));
  return {
    send: (text) => socket.send(text),
    reconnect: () => socket.reconnect(),
    close: () => socket.close(),
  };
}
