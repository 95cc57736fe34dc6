type Body = Uint8Array | "too-large" | "gone";

function join(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

async function collect(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Body> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return join(chunks, bytes);
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      reader.cancel().catch(() => {});
      return "too-large";
    }
    chunks.push(value);
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
