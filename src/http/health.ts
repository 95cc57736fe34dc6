import type { AppRuntime } from "../mcp/servable-app.ts";
import { type LimitUse, readUse } from "./budgets.ts";
import type { HttpSetting } from "./setting.ts";
import type { HttpAnswer, HttpReply, HttpRequest } from "./message.ts";

/** How long whoever asks whether the live surface can be reached is left waiting. */
const patienceMs = 2000;

const readinessHeaders = Object.freeze({ "content-type": "application/json", "cache-control": "no-store" });
const headers = Object.freeze({ "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });

function toAnswer(isWell: boolean): HttpAnswer {
  return isWell ? { status: 200, headers, body: "ok" } : { status: 503, headers, body: "unavailable" };
}

/** Numbers only: anybody may read them. */
function toReadiness(isReady: boolean, limits: LimitUse): HttpAnswer {
  const body = JSON.stringify({ status: isReady ? "ok" : "unavailable", limits });
  return { status: isReady ? 200 : 503, headers: readinessHeaders, body };
}

const notAllowed: HttpAnswer = { status: 405, headers: { allow: "GET, HEAD" } };

type HealthDeps = Pick<HttpSetting, "clock" | "budgets"> & {
  readonly runtime: Pick<AppRuntime, "isReady" | "schemaBytes">;
};

/**
 * Answers `/healthz` (the server runs) and `/readyz` (the live surface can be reached, too, and how much of each limit is used).
 * Neither needs a token: their clients are the machines that start and end servers.
 */
export class Health {
  readonly #deps: HealthDeps;
  #isLeaving = false;
  #asking: Promise<boolean> | undefined;
  /** Ends the question that is being asked: one signal each, so that none outlives its answer. */
  #impatience: AbortController | undefined;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  /** It is about to close: whoever asks is sent elsewhere from now on. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Ends whatever is waited for. Callable twice. */
  close(): void {
    this.leave();
    this.#impatience?.abort();
  }

  /** Answers a request that asks for this; `false`: it asks for something else. */
  readonly answer = (request: HttpRequest, reply: HttpReply): boolean => {
    const [path] = request.target.split("?", 1);
    if (path !== "/healthz" && path !== "/readyz") return false;
    if (request.method !== "GET" && request.method !== "HEAD") reply.answer(notAllowed);
    else if (path === "/healthz") reply.answer(toAnswer(!this.#isLeaving));
    else void this.#answerReadiness(reply);
    return true;
  };

  async #answerReadiness(reply: HttpReply): Promise<void> {
    const { budgets, runtime } = this.#deps;
    const isReady = !this.#isLeaving && (await this.#isReady());
    reply.answer(toReadiness(isReady && !this.#isLeaving, readUse(budgets, runtime.schemaBytes)));
  }

  /** One question at a time, however many ask. */
  #isReady(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    const { runtime, clock } = this.#deps;
    const impatience = new AbortController();
    this.#impatience = impatience;
    const stop = clock.after(patienceMs, () => impatience.abort());
    try {
      return await runtime.isReady(impatience.signal);
    } finally {
      stop();
      this.#impatience = undefined;
    }
  }
}
