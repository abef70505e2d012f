import { isRedlockError, type Redlock } from "@redlatch/core";
import { type SeatStore, seatsOf } from "./seat-store.ts";

export interface Service {
  readonly redlock: Redlock;
  readonly store: SeatStore;
  /** How many seats a show has. */
  readonly capacity: number;
}

type Handler = (request: Request) => Promise<Response>;

/** At the most in one reservation. */
const MOST_SEATS = 10;

const RESERVATIONS = new URLPattern({ pathname: "/shows/:show/reservations" });
const SHOW = new URLPattern({ pathname: "/shows/:show" });

/**
 * Makes the service: `GET /shows/:show` tells how many seats are left, `POST /shows/:show/reservations` with
 * `{ "seats": 2 }` takes some.
 */
export function handlerOf(service: Service): Handler {
  return async (request) => {
    try {
      return await route(service, request);
    } catch (error) {
      return answerTo(error, request.signal);
    }
  };
}

function route(service: Service, request: Request): Response | Promise<Response> {
  const reservations = RESERVATIONS.exec(request.url)?.pathname.groups["show"];
  if (reservations !== undefined) {
    if (request.method !== "POST") return refusal(405, "METHOD", "use POST", { allow: "POST" });
    return reserve(service, reservations, request);
  }
  const show = SHOW.exec(request.url)?.pathname.groups["show"];
  if (show === undefined) return refusal(404, "NOT_FOUND", "there is only /shows/<name>");
  if (request.method !== "GET") return refusal(405, "METHOD", "use GET", { allow: "GET" });
  return tell(service, show);
}

async function tell({ store, capacity }: Service, show: string): Promise<Response> {
  return Response.json({ show, capacity, left: capacity - seatsOf(await store.read(show)) });
}

async function reserve(service: Service, show: string, request: Request): Promise<Response> {
  const { redlock, store, capacity } = service;
  const seats = seatsIn(await request.json().catch(() => undefined));
  if (seats === undefined) {
    return refusal(400, "BAD_REQUEST", `"seats" must be an integer from 1 to ${MOST_SEATS}`);
  }
  // Who goes away while waiting leaves the line.
  const { signal } = request;
  return redlock.using(`show:${show}`, { signal }, async (lease) => {
    const reservations = await store.read(show);
    const left = capacity - seatsOf(reservations);
    if (seats > left) return refusal(409, "SOLD_OUT", `${left} seats are left`);
    const id = crypto.randomUUID();
    // The last moment at which it can still be told that somebody else may be writing.
    lease.assertHeld();
    await store.write(show, { ...reservations, [id]: seats });
    return Response.json({ id, show, seats, left: left - seats }, { status: 201 });
  });
}

function seatsIn(body: unknown): number | undefined {
  const { seats } = Object(body) as { seats?: unknown };
  if (typeof seats !== "number" || !Number.isInteger(seats)) return undefined;
  return seats >= 1 && seats <= MOST_SEATS ? seats : undefined;
}

const SOON = { "retry-after": "1" };

/** Nothing has been reserved in any of these cases, but where the store itself failed. */
function answerTo(error: unknown, { aborted }: AbortSignal): Response {
  if (isRedlockError(error, "RESOURCE_HELD")) {
    return refusal(409, "BUSY", "many want seats for this show: try again", SOON);
  }
  if (isRedlockError(error)) {
    // No quorum, a lock that was lost before the write, or this instance shuts down.
    console.error(error.message);
    return refusal(503, error.code, "no reservations can be taken just now", SOON);
  }
  if (aborted) return refusal(499, "GONE", "the client went away");
  console.error(error);
  return refusal(500, "FAULT", "something went wrong; whether seats were taken is not known");
}

function refusal(status: number, code: string, message: string, headers: HeadersInit = {}) {
  return Response.json({ code, message }, { status, headers });
}
