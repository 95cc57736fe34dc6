import type { AppRuntime } from "../mcp/servable-app.ts";
import { readUse } from "./budgets.ts";
import type { HttpDeps } from "./http-deps.ts";
import type { HttpAnswer, HttpReply, HttpRequest } from "./message.ts";
import { jsonHeaders } from "./respond.ts";

/** Milliseconds until a live surface that does not answer counts as unreachable. */
const timeoutMs = 2000;

const headers = Object.freeze({ "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
const running: HttpAnswer = { status: 200, headers, body: "ok" };
const leaving: HttpAnswer = { status: 503, headers, body: "unavailable" };
const notAllowed: HttpAnswer = { status: 405, headers: { allow: "GET, HEAD" } };

type HealthDeps = Pick<HttpDeps, "clock" | "budgets" | "cluster"> & {
  readonly runtime: Pick<AppRuntime, "isReady" | "schemaBytes">;
};

/**
 * Answers `/healthz` (the server runs) and `/readyz` (the live surface can be reached, too; also whether the store of the cluster can, and
 * how much of each limit is used). A store that is away is no reason to send no requests: most of them need none.
 * Neither needs a token: their clients are the machines that start and end servers. So the answers have no data of the app.
 */
export class Health {
  readonly #deps: HealthDeps;
  #isLeaving = false;
  /** The check of the live surface that runs, for all requests that wait. */
  #checking: Promise<boolean> | undefined;
  #abort: AbortController | undefined;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  /** Answers from now on that the server is unavailable, because it is about to close. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Ends a check that runs. Callable twice. */
  close(): void {
    this.leave();
    this.#abort?.abort();
  }

  /** Answers a request for one of the two paths. Returns `false` for other requests. */
  readonly answer = (request: HttpRequest, reply: HttpReply): boolean => {
    const [path] = request.target.split("?", 1);
    if (path !== "/healthz" && path !== "/readyz") return false;
    if (request.method !== "GET" && request.method !== "HEAD") reply.answer(notAllowed);
    else if (path === "/healthz") reply.answer(this.#isLeaving ? leaving : running);
    else void this.#answerReadiness(reply);
    return true;
  };

  async #answerReadiness(reply: HttpReply): Promise<void> {
    const { budgets, cluster, runtime } = this.#deps;
    const isReachable =
      !this.#isLeaving && (await (this.#checking ??= this.#check().finally(() => (this.#checking = undefined))));
    const isReady = isReachable && !this.#isLeaving;
    const limits = readUse(budgets, runtime.schemaBytes);
    const shared = cluster && { cluster: cluster.isAvailable ? "ok" : "unavailable" };
    const body = JSON.stringify({ status: isReady ? "ok" : "unavailable", ...shared, limits });
    reply.answer({ status: isReady ? 200 : 503, headers: jsonHeaders, body });
  }

  async #check(): Promise<boolean> {
    const { runtime, clock } = this.#deps;
    const controller = new AbortController();
    this.#abort = controller;
    const stop = clock.after(timeoutMs, () => controller.abort());
    try {
      return await runtime.isReady(controller.signal);
    } finally {
      stop();
      this.#abort = undefined;
    }
  }
}
