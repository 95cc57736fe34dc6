import { withCallerView } from "../surface/caller-key.ts";
import { defaultView, type Caller, type CallerView } from "../surface/caller.ts";
import type { JsonObject } from "../schema/json.ts";
import { envelopeClientOf, readClient } from "./envelope.ts";
import { ownParam } from "./own-param.ts";
import type { Era } from "./protocol.ts";

type Client = NonNullable<CallerView["client"]>;

/** The last copy of each anonymous caller. Over HTTP without sessions every request names its client. */
const copies = new WeakMap<Caller, Caller>();

function hasClient({ view }: Caller, { name, version }: Client): boolean {
  return view?.client?.name === name && view.client.version === version;
}

/** Returns the caller with the name and version of their program. Returns the same object if these are missing or known. */
export function withClient(caller: Caller, client: Client | undefined): Caller {
  if (client === undefined || hasClient(caller, client)) return caller;
  const last = caller.isAnonymous ? copies.get(caller) : undefined;
  if (last !== undefined && hasClient(last, client)) return last;
  const view = Object.freeze({ surface: defaultView, ...caller.view, client: Object.freeze(client) });
  const copy = withCallerView(caller, view);
  if (caller.isAnonymous) copies.set(caller, copy);
  return copy;
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
