import { hostname } from "node:os";
import type { BridgeSession } from "./bridge-session.ts";
import { cancelCall, pick, readOnlyHints, startOr, type Bridge, type Probe } from "./probe.ts";

const startupError = "startup error";

/** Returns what a call sent to the API. */
async function sentBy({ session, api }: Bridge, name: string, args: object): Promise<string> {
  api.requests.length = 0;
  await session.call(name, args);
  return api.requests.length === 0 ? "refused before sending" : `sent as \`${api.requests.join(", ")}\``;
}

/** Serves a document with one operation more, whose body has this content. */
function withBody(
  { api, start }: Bridge,
  content: object,
  find: (session: BridgeSession) => Promise<string>,
): Promise<string> {
  const post = { operationId: "extra", requestBody: { required: true, content }, responses: { 200: api.ok } };
  const document = { ...api.document, paths: { "/extra": { post } } };
  api.requests.length = 0;
  return startOr(startupError, () => start({ document, expose: { extra: "write" } }), find);
}

/** Returns the probe of a reference to a schema elsewhere, and the text that proves that it was read. */
function reference(label: string, toUrl: (bridge: Bridge) => string): Probe {
  return [
    label,
    (bridge) => {
      const content = { "application/json": { schema: { $ref: toUrl(bridge) } } };
      return withBody(bridge, content, async (session) =>
        pick(JSON.stringify(await session.list()), [["from elsewhere", "read, shown in the tool's schema"]]),
      );
    },
  ];
}

/** Counts the tools of a document when nothing is said about its operations. */
function countTools({ start }: Bridge, document: object): Promise<string> {
  return startOr(
    startupError,
    () => start({ document, expose: {} }),
    async (session) => {
      const tools = await session.list();
      return `${tools.length}${tools.some(({ name }) => name === "wipeKeys") ? ", with `DELETE /admin/keys`" : ""}`;
    },
  );
}

/** The rows of the table about OpenAPI. */
export const openApiProbes: readonly Probe[] = [
  ["tools of 13 operations by default", (bridge) => countTools(bridge, bridge.api.document)],
  [
    "the same, after one was added to the document",
    (bridge) => {
      const added = { "/added": { post: { operationId: "added", responses: { 200: bridge.api.ok } } } };
      return countTools(bridge, { ...bridge.api.document, paths: { ...bridge.api.document.paths, ...added } });
    },
  ],
  [
    "tools of 41 operations by default",
    (bridge) => {
      const { ok } = bridge.api;
      const paths: Record<string, object> = {};
      for (let index = 0; index < 41; index += 1)
        paths[`/many/${index}`] = { get: { operationId: `many${index}`, responses: { 200: ok } } };
      return countTools(bridge, { ...bridge.api.document, paths });
    },
  ],
  readOnlyHints,
  ["`GET /v1/pets/{petId}` with `..`", (bridge) => sentBy(bridge, "showPet", { petId: ".." })],
  ["`GET /v1/pets/{petId}/owner` with `..`", (bridge) => sentBy(bridge, "showOwner", { petId: ".." })],
  [
    "a redirect (307) to another origin",
    async ({ session, api }) => {
      api.stolenKeys.length = 0;
      await session.call("moved");
      return api.stolenKeys.includes("our-key") ? "followed; that origin gets `x-api-key`" : "not followed";
    },
  ],
  [
    "an argument named as the key's header",
    async ({ session }) =>
      pick(await session.call("key", { "x-api-key": "model" }), [
        ["model", "replaces the key"],
        ["our-key", "listed, but the key is sent"],
      ]),
  ],
  [
    "a cookie parameter",
    async ({ session }) =>
      pick(await session.call("cookie", { seen: "1; admin=1" }), [
        ["seen=1; admin=1", "sent as it is: `1; admin=1` is two cookies"],
        ["VALIDATION_ERROR", "left out; cannot be sent"],
      ]),
  ],
  [
    "a 500 with a stack trace",
    async ({ session }) =>
      pick(await session.call("crash"), [
        ["hunter2", "reaches the model"],
        ["INTERNAL", "masked, with an id"],
      ]),
  ],
  [
    "a 403 with a body that is not declared",
    async ({ session }) =>
      pick(await session.call("denied"), [
        ["hunter2", "reaches the model"],
        ["UPSTREAM_403", "only the status"],
      ]),
  ],
  [
    "a 429 with `retry-after: 7`",
    async ({ session }) =>
      pick(await session.call("busy"), [
        ['"retryAfterMs":7000', "status and time"],
        ["429", "status and body, no time"],
      ]),
  ],
  [
    "a response of 4 MiB",
    async ({ session }) => {
      const { length } = await session.call("huge");
      return length > 1_000_000 ? `a result of ${(length / 1_048_576).toFixed(0)} MiB` : "refused after 1 MiB";
    },
  ],
  [
    "a result that breaks its schema",
    async ({ session }) =>
      pick(await session.call("wrong"), [
        ["INVALID_OUTPUT", "withheld, with an id"],
        ["content", "passed on as text, without `structuredContent`"],
      ]),
  ],
  [
    "a cancelled call",
    async ({ session, api }) => {
      api.closed = 0;
      await cancelCall(session, "slow");
      return api.closed > 0 ? "closes the request" : "the request runs on";
    },
  ],
  reference("a `$ref` to a local file", ({ api }) => api.schemaFile),
  reference("a `$ref` to a URL with a loopback address", ({ api }) => `http://127.0.0.1:${api.port}/schema.json`),
  reference("a `$ref` to a URL whose host resolves to it", ({ api }) => `http://${hostname()}:${api.port}/schema.json`),
  [
    "a form body (`x-www-form-urlencoded`)",
    (bridge) => {
      const schema = { type: "object", properties: { id: { type: "string" } } };
      return withBody(bridge, { "application/x-www-form-urlencoded": { schema } }, async (session) => {
        await session.call("extra", { id: "1" });
        return bridge.api.requests.includes("POST /v1/extra") ? "sent" : "not sent";
      });
    },
  ],
];
