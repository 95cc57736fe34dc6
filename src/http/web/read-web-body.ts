import type { BodyRead } from "../message.ts";
import type { BodyBuffer } from "../body/body-buffer.ts";

async function collect(stream: ReadableStream<Uint8Array>, body: BodyBuffer): Promise<BodyRead> {
  const reader = stream.getReader();
  let isEvicted = false;
  const cancel = (): void => void reader.cancel().catch(() => {});
  body.onEvicted = () => {
    isEvicted = true;
    cancel();
  };
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
