import type { BodyBytes, BodyRead, HttpRequest } from "../message.ts";
import { BodyBuffer } from "../body/body-buffer.ts";

async function collect(stream: ReadableStream<Uint8Array>, body: BodyBuffer): Promise<BodyRead> {
  const reader = stream.getReader();
  let isEvicted = false;
  const cancel = (): void => void reader.cancel().catch(() => {});
  const onEvicted = (): void => {
    isEvicted = true;
    cancel();
  };
  body.onEvicted = onEvicted;
  for (;;) {
    const { done, value } = await reader.read();
    if (isEvicted) return "gone";
    if (done) return body.take();
    const refusal = body.append(value);
    if (refusal === undefined) continue;
    cancel();
    return refusal;
  }
}

async function read(request: Request, body: BodyBuffer): Promise<BodyRead> {
  if (body.isTooSmallFor(Number(request.headers.get("content-length")))) return "too-large";
  if (request.body === null || request.bodyUsed) return new Uint8Array(0);
  try {
    return await collect(request.body, body);
  } catch {
    return "gone";
  } finally {
    body.onEvicted = undefined;
  }
}

/** Reads the body of a request into a buffer, as `HttpRequest.body` says. A body that was read before is empty. */
export async function readWebBody(request: Request, body: BodyBuffer, done: (body: BodyRead) => void): Promise<void> {
  done(await read(request, body));
}

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
