import type { JsonObject } from "../../schema/json.ts";

const idPrefix = "surface-mcp reload ";

/** Returns whether an id is that of a message of {@link SessionState.replay}, of which the client does not know. */
export function isReplayedId(id: unknown): boolean {
  return typeof id === "string" && id.startsWith(idPrefix);
}

/** The messages by which a client up to 2025-11-25 has put its session into the present state: another generation takes them again. */
export class SessionState {
  readonly #kept = new Map<string, JsonObject>();
  #count = 0;

  /** Takes note of a message of the client. */
  note(message: JsonObject): void {
    const { method, params } = message;
    const uri = JSON.stringify(params ?? null);
    if (method === "initialize") this.#kept.clear();
    if (method === "resources/unsubscribe") this.#kept.delete(`resources/subscribe ${uri}`);
    else if (method === "resources/subscribe") this.#kept.set(`${method} ${uri}`, message);
    else if (method === "initialize" || method === "notifications/initialized" || method === "logging/setLevel") {
      this.#kept.set(method, message);
    }
  }

  /** Returns the messages with other ids, the handshake first. */
  replay(): readonly string[] {
    return Array.from(this.#kept.values(), (message) => {
      this.#count += 1;
      return JSON.stringify(message["id"] === undefined ? message : { ...message, id: `${idPrefix}${this.#count}` });
    });
  }
}
