/** All reservations of one show: how many seats each one has. */
export type Reservations = Readonly<Record<string, number>>;

/**
 * Where reservations are kept. Reading and writing are two steps, as with any file, spreadsheet or partner's
 * API that knows no transactions: whoever writes must have kept all others away since reading.
 */
export interface SeatStore {
  read(show: string): Promise<Reservations>;
  write(show: string, reservations: Reservations): Promise<void>;
}

/** What is used of a node-redis client. */
interface Texts {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<unknown>;
}

/** Keeps each show as one JSON text in Redis. */
export function redisSeatStore(client: Texts): SeatStore {
  const keyOf = (show: string): string => `seats:${show}`;
  return {
    async read(show) {
      return JSON.parse((await client.get(keyOf(show))) ?? "{}") as Reservations;
    },
    async write(show, reservations) {
      await client.set(keyOf(show), JSON.stringify(reservations));
    },
  };
}

export function seatsOf(reservations: Reservations): number {
  return Object.values(reservations).reduce((sum, seats) => sum + seats, 0);
}
