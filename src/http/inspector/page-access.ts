import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../spine/clock.ts";
import type { PageAddress } from "./page-address.ts";

const secretBytes = 32;

/** Links that wait for a browser. A further one ends the oldest. */
const maxLinks = 16;

/** Wrong tokens in one minute, after which further wrong ones are told to wait. */
const maxWrong = 30;

const minuteMs = 60_000;

/** A secret, and its digest, which is all that comparisons need. */
interface Secret {
  readonly text: string;
  readonly digest: Buffer;
}

function toDigest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function createSecret(): Secret {
  const text = randomBytes(secretBytes).toString("base64url");
  return { text, digest: toDigest(text) };
}

/** Decides which browsers may see the page: those that have sent the token of a link once, and have the cookie since. */
export class PageAccess {
  readonly #address: PageAddress;
  readonly #clock: Clock;
  /** One for all browsers of this inspector: it ends with the process. */
  readonly #cookie = createSecret();
  /** Digests of unused tokens, oldest first. */
  readonly #tokens: Buffer[] = [];
  #wrong = 0;
  #countedFrom = -minuteMs;

  constructor(address: PageAddress, clock: Clock) {
    this.#address = address;
    this.#clock = clock;
  }

  /** Creates a link that opens the page in one browser. The token is in the fragment, which browsers do not send. */
  createLink(): string {
    const { text, digest } = createSecret();
    if (this.#tokens.push(digest) > maxLinks) this.#tokens.shift();
    return `${this.#address.url}#token=${text}`;
  }

  /** Uses up a token. Returns the value of `Set-Cookie`, or the reason for its refusal. */
  enter(token: string): { readonly cookie: string } | "wrong" | "too-many" {
    const digest = toDigest(token);
    const at = this.#tokens.findIndex((each) => timingSafeEqual(each, digest));
    // Only wrong tokens are counted, so that those who guess do not keep a link from working.
    if (at === -1) return this.#refuse();
    this.#tokens.splice(at, 1);
    const { cookieName, base, isSecure } = this.#address;
    const attributes = `HttpOnly; SameSite=Strict; Path=${base}${isSecure ? "; Secure" : ""}`;
    return { cookie: `${cookieName}=${this.#cookie.text}; ${attributes}` };
  }

  #refuse(): "wrong" | "too-many" {
    const now = this.#clock.now();
    if (now - this.#countedFrom >= minuteMs) {
      this.#countedFrom = now;
      this.#wrong = 0;
    }
    if (this.#wrong >= maxWrong) return "too-many";
    this.#wrong += 1;
    return "wrong";
  }

  /** Returns whether a `Cookie` header has the cookie of this inspector. Another site of the host may have added one of the same name. */
  has(header: string | undefined): boolean {
    if (header === undefined) return false;
    const start = `${this.#address.cookieName}=`;
    // Repeated headers are joined by commas, which the values do not have.
    return header.split(/[;,]/).some((part) => {
      const pair = part.trim();
      return pair.startsWith(start) && timingSafeEqual(toDigest(pair.slice(start.length)), this.#cookie.digest);
    });
  }
}
