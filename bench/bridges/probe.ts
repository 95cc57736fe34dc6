import type { Api } from "./api.ts";
import type { BridgeSession } from "./bridge-session.ts";

/** What a process serves; the fields are those of `serve.mjs`. */
export interface ServeRequest {
  readonly enabled?: boolean;
  readonly document?: object;
  readonly expose?: object;
  readonly baseUrl?: string;
  readonly headers?: object;
}

/** One package of the comparison, and its open session. */
export interface Bridge {
  readonly session: BridgeSession;
  /** Starts another session, with another request. */
  readonly start: (request: ServeRequest) => Promise<BridgeSession>;
  readonly api: Api;
}

/** A row of a table: its first cell, and the function that finds the cell of a package by running it. */
export type Probe = readonly [label: string, find: (bridge: Bridge) => Promise<string>];

/** Returns the words of the first text that the answer contains. */
export function pick(answer: string, words: readonly (readonly [text: string, words: string])[]): string {
  const found = words.find(([text]) => answer.includes(text));
  if (found === undefined) throw new Error(`Comparison: unexpected answer: ${answer.slice(0, 400)}`);
  return found[1];
}

/** Starts a session, and returns the words for a process that ends at once. */
export async function startOr(
  words: string,
  start: () => Promise<BridgeSession>,
  find: (session: BridgeSession) => Promise<string>,
): Promise<string> {
  let session: BridgeSession;
  try {
    session = await start();
  } catch (error) {
    if (!String(error).includes("Connection closed")) throw error;
    return words;
  }
  try {
    return await find(session);
  } finally {
    await session.close();
  }
}

/** Cancels a call after it has started. */
export async function cancelCall(session: BridgeSession, name: string, settleMs = 300): Promise<void> {
  const controller = new AbortController();
  const call = session.call(name, {}, controller.signal);
  await new Promise((resolve) => void setTimeout(resolve, settleMs));
  controller.abort();
  await call;
  await new Promise((resolve) => void setTimeout(resolve, settleMs));
}

/** Returns how many tools are marked as reading only. */
export const readOnlyHints: Probe = [
  "tools with `readOnlyHint`",
  async ({ session }) => {
    const tools = await session.list();
    return `${tools.filter(({ annotations }) => annotations?.readOnlyHint === true).length} of ${tools.length}`;
  },
];
