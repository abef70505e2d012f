interface Bindings {
  readonly APP: Fetcher;
}

// Between the test and the app, since workerd cancels for sure what a Worker hangs up on, but not what a
// client of miniflare does. Hangs up when the URL of the header `hang-up` answers.
export default {
  async fetch(request, { APP }): Promise<Response> {
    const hangUp = request.headers.get("hang-up");
    if (!hangUp) return APP.fetch(request);
    const leaving = new AbortController();
    const sent = APP.fetch(request, { signal: leaving.signal });
    await fetch(hangUp);
    leaving.abort();
    return sent.catch(() => new Response("hung up", { status: 299 }));
  },
} satisfies ExportedHandler<Bindings>;
