import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";

const maxBytes = 256 * 1024;

/** Time for which requests fail as the last one did, without being sent, in milliseconds. */
const restMs = 1000;

/** Asks for a set of keys, as `jose` wants it done. */
export type KeyFetch = (url: string, init: RequestInit) => Promise<Response>;

function refuse(what: string): SurfaceError {
  return new SurfaceError("UNAVAILABLE", `Fetching the keys of the issuer: ${what}`);
}

async function readBounded(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw refuse(`the answer is larger than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Makes what fetches keys: it goes where it was configured to and nowhere else, reads no more than 256 KiB, and rests for a
 * second after a failure. Anybody can send a token, and so decide when keys are asked for.
 *
 * @throws SurfaceError `UNAVAILABLE`; whatever `fetch` rejects with.
 */
export function createKeyFetch(clock: Clock): KeyFetch {
  let restsUntil = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  const run: KeyFetch = async (url, init) => {
    const response = await fetch(url, { ...init, redirect: "manual" });
    if (response.status === 200) return new Response(await readBounded(response.body), { status: 200 });
    await response.body?.cancel();
    throw refuse(`it was answered with status ${response.status}`);
  };
  return async (url, init) => {
    if (clock.now() < restsUntil) throw failure;
    try {
      return await run(url, init);
    } catch (cause) {
      restsUntil = clock.now() + restMs;
      failure = cause;
      throw cause;
    }
  };
}
