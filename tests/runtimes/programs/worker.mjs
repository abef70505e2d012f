import { connect } from "driver";
import { play } from "./play.mjs";

/** What a Cloudflare Worker runs: one request is one run. */
export default {
  async fetch(request) {
    return Response.json({ results: await play(connect, await request.json()) });
  },
};
