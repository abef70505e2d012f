import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { onMessage } from "./lines.ts";
import type { FromGuard, ToGuard, Won } from "./messages.ts";
import { Occupancy } from "./occupancy.ts";

/** The resource: a service that lets everybody in and remembers who was there. */
export interface Guard {
  readonly port: number;
  readonly occupancy: Occupancy;
  readonly won: readonly Won[];
  /** How many clients have come. */
  readonly clients: number;
  /** Asks every client to finish. */
  tellToStop(): void;
  close(): Promise<void>;
}

/**
 * Starts the resource's guard. A client gets an answer once its entry or its leaving is on record, and
 * releases only then: so what is recorded as inside was inside.
 */
export async function startGuard(): Promise<Guard> {
  const occupancy = new Occupancy();
  const won: Won[] = [];
  const sockets = new Set<Socket>();
  let clients = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    const client = clients++;
    sockets.add(socket);
    socket.on("error", () => {});
    onMessage<ToGuard>(socket, (message) => hear(occupancy, won, client, socket, message));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    occupancy,
    won,
    get clients() {
      return clients;
    },
    tellToStop: () => {
      for (const socket of sockets) say(socket, { type: "stop" });
    },
    close: () => closeAll(server, sockets),
  };
}

function hear(
  occupancy: Occupancy,
  won: Won[],
  client: number,
  socket: Socket,
  message: ToGuard,
): void {
  if (message.type === "acquired") {
    won.push({ roundMs: message.roundMs, acquiredMs: message.acquiredMs });
    return;
  }
  if (message.type === "enter") occupancy.enter(client, message.id, message, Date.now());
  else occupancy.leave(client, message.entry, message, Date.now());
  say(socket, { type: "done", id: message.id });
}

const say = (socket: Socket, message: FromGuard): void => {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
};

async function closeAll(server: Server, sockets: Iterable<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, "close");
}
