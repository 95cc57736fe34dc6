/** Returns the sentence that tells why a request failed. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function send(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch(() => {
    throw new Error("The server cannot be reached.");
  });
  if (response.ok) return response;
  // The body of an error of the server; a proxy may send any other.
  const body = (await response.json().catch(() => undefined)) as { error?: { message?: string } } | undefined;
  throw new Error(body?.error?.message ?? `The server answered ${response.status}.`);
}

/** Reads JSON from a route. The caller names the type that the contract of the messages gives the route. */
export async function getJson<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const response = await send(`${path}?${new URLSearchParams(query).toString()}`);
  // The server of this page wrote it, by the same contract.
  return (await response.json()) as T;
}

/** Posts JSON to a route. */
export async function postJson(path: string, body: object): Promise<void> {
  await send(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
