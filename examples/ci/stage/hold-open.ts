import { toCurlLines } from "./curl-lines.ts";
import { startHttpFace } from "./http-face.ts";
import type { HttpFaceSetting } from "./http-face.ts";

/** What is served, and until when. */
export interface HoldSetting extends HttpFaceSetting {
  readonly signal: AbortSignal;
}

/**
 * Serves a pipeline over HTTP, for whoever wants to try it, until the signal comes.
 *
 * @throws Error when the face does not come up, or ends by itself or other than in good order.
 */
export async function holdOpen({ signal, ...setting }: HoldSetting): Promise<void> {
  const { printer } = setting;
  const face = await startHttpFace(setting);
  printer.step(`face ${face.pid} serves ${printer.paint("strong", face.url)} until you press Ctrl-C`, [
    "",
    ...toCurlLines(face.url),
    "",
  ]);
  const asked = new Promise<true>((resolve) => {
    signal.addEventListener("abort", () => resolve(true));
    if (signal.aborted) resolve(true);
  });
  const isAsked = await Promise.race([asked, face.gone.then(() => false)]);
  const code = await face.end();
  if (!isAsked || code !== 0) throw new Error(`serve over HTTP: the face has ended with code ${code}`);
  printer.step(`face ${face.pid} ended with code 0`);
}
