import { once } from "node:events";
import { createConnection } from "node:net";
import { onMessage } from "./lines.ts";
import type { FromGuard, Leaving, ToGuard, Visit, Won } from "./messages.ts";

/** A client's side of the resource. */
export interface GuardConnection {
  /** Whether the run is over. */
  readonly stopping: boolean;
  /** Resolves with the entry's number once it is on record. */
  enter(visit: Visit): Promise<number>;
  leave(entry: number, leaving: Leaving): Promise<void>;
  acquired(won: Won): void;
  end(): void;
}

export async function connectGuard(port: number): Promise<GuardConnection> {
  const socket = createConnection({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  const waiting = new Map<number, () => void>();
  let ids = 0;
  let stopping = false;
  onMessage<FromGuard>(socket, (message) => {
    if (message.type === "stop") stopping = true;
    else waiting.get(message.id)?.();
  });
  const send = (message: ToGuard) => socket.write(`${JSON.stringify(message)}\n`);
  /** Written in the same turn: nothing comes between the caller's check and its entry but a pause. */
  const ask = (make: (id: number) => ToGuard) => {
    const id = ids++;
    return new Promise<number>((resolve) => {
      waiting.set(id, () => {
        waiting.delete(id);
        resolve(id);
      });
      send(make(id));
    });
  };
  return {
    get stopping() {
      return stopping;
    },
    enter: (visit) => ask((id) => ({ type: "enter", id, ...visit })),
    leave: async (entry, leaving) => {
      await ask((id) => ({ type: "leave", id, entry, ...leaving }));
    },
    acquired: (won) => send({ type: "acquired", ...won }),
    end: () => socket.end(),
  };
}
