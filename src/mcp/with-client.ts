import { withCallerView } from "../surface/caller-key.ts";
import { defaultView, type Caller, type CallerView } from "../surface/caller.ts";
import type { JsonObject } from "../schema/json.ts";
import { envelopeClientOf, readClient } from "./envelope.ts";
import { ownParam } from "./own-param.ts";
import type { Era } from "./protocol.ts";

/** A caller who asks with a program that says what it is; the same object where it says nothing, or nothing new. */
export function withClient(caller: Caller, client: CallerView["client"]): Caller {
  const known = caller.view?.client;
  if (client === undefined || (client.name === known?.name && client.version === known.version)) return caller;
  const view = Object.freeze({ surface: defaultView, ...caller.view, client: Object.freeze(client) });
  return withCallerView(caller, view);
}

/** Who asks on one connection: the same caller all the time, with the program that they have said they are. */
export class ConnectionCaller {
  #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** As of the last request that said what its program is. */
  get current(): Caller {
    return this.#caller;
  }

  /** Who asks a request: a handshake says what its program is for all that follow, the modern era says it with each. */
  of(method: string, params: JsonObject | undefined, era: Era): Caller {
    if (era === "modern") this.#caller = withClient(this.#caller, envelopeClientOf(params));
    else if (method === "initialize") {
      this.#caller = withClient(this.#caller, readClient(ownParam(params, "clientInfo")));
    }
    return this.#caller;
  }
}
