import { refuseRequest, type HttpRefusal } from "../http-refusal.ts";
import type { HttpRequest } from "../message.ts";

const remoteClient = refuseRequest(403, "without authentication only clients on this machine are served");

const hint = 'pass "auth", or { allowAnonymous: true } if everyone may use what is exposed';

function warn(text: string): void {
  // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
  console.error(`[surface-mcp] warning: ${text}; ${hint}`);
}

/**
 * Guards a server without `auth` against other machines. The list of hosts does not: a program writes any `Host`. Warns once,
 * because an author who forgot `auth` learns it from nothing else. A client that has gone is no reason to warn.
 */
export class LocalClients {
  #hasWarned = false;

  /** Returns a refusal if the connection does not come from this machine. A web `Request` names no address and passes. */
  check({ isRemote, isReset, address }: HttpRequest): HttpRefusal | undefined {
    if (isRemote === false) return undefined;
    if (!this.#hasWarned && isReset !== true) {
      this.#hasWarned = true;
      if (isRemote === undefined) warn('Serving web requests, which name no address, without "auth"');
      else warn(`Cannot serve a client at ${address ?? "an unknown address"} without "auth"`);
    }
    return isRemote === undefined ? undefined : remoteClient;
  }
}
