import type { BodyBytes, BodyRead, HttpRequest } from "../message.ts";
import { BodyBuffer } from "../body/body-buffer.ts";
import { readWebBody } from "./read-web-body.ts";

/** A request that came as the web's own object. */
export class WebRequest implements HttpRequest {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get target(): string {
    const [url = ""] = this.#request.url.split("#", 1);
    return url.slice(authorityEnd(url));
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    if (value !== null) return value;
    // Some runtimes tell it by the URL alone.
    return name === "host" ? hostOf(this.#request.url) : undefined;
  }

  /** Values of one that came more than once are one by now, joined: none that is read as a single one has a comma. */
  count(name: string): number {
    return this.header(name) === undefined ? 0 : 1;
  }

  body(maxBytes: number, done: (body: BodyRead) => void, bytes?: BodyBytes): void {
    void readWebBody(this.#request, new BodyBuffer(maxBytes, bytes), done);
  }
}

/** Where the path begins. */
function authorityEnd(url: string): number {
  const at = url.indexOf("/", url.indexOf("://") + 3);
  return at === -1 ? url.length : at;
}

function hostOf(url: string): string {
  return url.slice(url.indexOf("://") + 3, authorityEnd(url));
}
