import type { CallContext } from "../call/call-context.ts";
import type { Handler, Handlers } from "../mcp/handlers.ts";
import { ownParam } from "../mcp/protocol.ts";
import type { JsonObject } from "../schema/json.ts";
import { clipText } from "../schema/clip-text.ts";

const maxNameBytes = 200;

interface Running {
  readonly what: string;
  readonly params: JsonObject | undefined;
}

/** What of an author's runs for callers, also where it goes on after they were answered. */
export class RunningCalls {
  readonly #running = new Map<CallContext, Running>();
  readonly #waiting: (() => void)[] = [];

  /** The same handlers, watched. */
  watch(handlers: Handlers): Handlers {
    const prompt = handlers["prompts/get"];
    return {
      ...handlers,
      "tools/call": this.#watched("tool", handlers["tools/call"]),
      "resources/read": this.#watched("resource", handlers["resources/read"]),
      ...(prompt === undefined ? {} : { "prompts/get": this.#watched("prompt", prompt) }),
    };
  }

  /** What runs, each by its name, once. */
  get names(): readonly string[] {
    return [...new Set([...this.#running.values()].map(toName))];
  }

  /** Resolves when nothing runs; never, where something does not end. */
  async idle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #watched(what: string, handler: Handler): Handler {
    return (params, request) => {
      const answering = handler(params, request);
      if (!(answering instanceof Promise)) return answering;
      const { call } = request;
      this.#running.set(call, { what, params });
      const onAnswered = (): void => call.whenIdle(() => this.#forget(call));
      answering.then(onAnswered, onAnswered);
      return answering;
    };
  }

  #forget(call: CallContext): void {
    this.#running.delete(call);
    if (this.#running.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function toName({ what, params }: Running): string {
  const name = ownParam(params, "name") ?? ownParam(params, "uri");
  return typeof name === "string" ? `${what} "${clipText(name, maxNameBytes)}"` : what;
}
