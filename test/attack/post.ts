import { modernPost } from "../http/support/modern-post.ts";

/** A POST to the server under attack. */
export interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a request of the version without sessions. */
export function modern(method: string, params: Readonly<Record<string, unknown>> = {}): Post {
  const { headers, body } = modernPost(method, params);
  if (typeof body !== "string") throw new TypeError("Cannot send a request: its body must be text");
  return { headers: Object(headers), body };
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
let lastId = 0;

/** Returns a request as clients with sessions send it. Its id is used once: a session refuses one that is in use. */
export function legacy(method: string, params: object, session: Readonly<Record<string, string>> = {}): Post {
  lastId += 1;
  return {
    headers: { ...json, ...session },
    body: JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }),
  };
}
