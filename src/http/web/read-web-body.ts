import { BodyBuffer } from "../body/body-buffer.ts";

type Body = Uint8Array | "too-large" | "gone";

async function collect(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Body> {
  const reader = stream.getReader();
  const body = new BodyBuffer(maxBytes);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return body.take();
    if (body.append(value)) continue;
    reader.cancel().catch(() => {});
    return "too-large";
  }
}

/** Reads the body of a request, as `HttpRequest.body` says. Where somebody has read it before, there is none. */
export async function readWebBody(request: Request, maxBytes: number): Promise<Body> {
  if (Number(request.headers.get("content-length")) > maxBytes) return "too-large";
  if (request.body === null || request.bodyUsed) return new Uint8Array(0);
  try {
    return await collect(request.body, maxBytes);
  } catch {
    return "gone";
  }
}
