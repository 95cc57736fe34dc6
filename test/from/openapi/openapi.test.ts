import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mcpOpenApi } from "../../../src/builder/mcp-openapi.ts";
import { Refusal } from "../../../src/errors.ts";
import type { OpenApiOptions } from "../../../src/from/openapi/openapi.ts";
import type { OpenApiExposeMap } from "../../../src/from/openapi/openapi-types.ts";
import { bearer, http } from "../../../src/http/index.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { agentKinds } from "../../scenarios/support/clients.ts";
import { Api, json, petstore } from "./petstore.ts";

const all: OpenApiExposeMap = {
  listPets: "read",
  "GET /pets/{petId}": { read: { name: "pet.show", title: "Show" } },
  createPet: { write: { confirm: false } },
  deletePet: "write",
};
const closing: { close(): Promise<unknown> }[] = [];
const faults: Fault[] = [];
let api: Api;
let baseUrl = "";

beforeEach(async () => {
  api = new Api();
  baseUrl = `${await api.open()}/v1`;
  closing.push(api);
});
afterEach(async () => {
  for (const each of closing.splice(0).toReversed()) await each.close();
  faults.length = 0;
});

function appOf(
  expose: OpenApiExposeMap = all,
  options: Partial<OpenApiOptions> = {},
  document: object = petstore("3.1.0"),
) {
  const app = { name: "pets", onFault: (fault: Fault) => void faults.push(fault) };
  return mcpOpenApi(document as ReturnType<typeof petstore>, expose, { baseUrl, ...app, ...options });
}

function clientOf(...given: Parameters<typeof appOf>) {
  const client = createTestClient(appOf(...given));
  closing.push(client);
  return client;
}

type Result = Record<string, unknown> & { readonly content: readonly { readonly text: string }[] };

async function call(client: ReturnType<typeof clientOf>, name: string, args: JsonObject = {}): Promise<Result> {
  // The result of a call.
  return (await client.request("tools/call", { name, arguments: args })) as Result;
}

function textIn({ content }: Result): string {
  return content.map(({ text }) => text).join("\n");
}

function errorIn(result: Result): unknown {
  const meta: unknown = result["_meta"];
  return typeof meta === "object" && meta !== null ? Reflect.get(meta, "surface-mcp/error") : undefined;
}

/** The causes of faults. */
function logged(): string {
  return faults.map(({ cause }) => String(cause)).join("\n");
}

describe.each(["3.0.3", "3.1.0"] as const)("a document of OpenAPI %s", (version) => {
  it.each(agentKinds.map((kind) => [kind.name, kind] as const))("is served to %s", async (_, kind) => {
    const serving = await http({ port: 0, exit: false }).serve(
      appOf({ ...all, health: "resource" }, {}, petstore(version)),
    );
    closing.push(serving);
    const agent = await kind.connect({ url: serving.url });
    closing.push(agent);
    expect((await agent.tools()).toSorted()).toEqual(["createPet", "deletePet", "listPets", "pet_show"]);
    api.answer = (_request, response) =>
      json(response, 200, { value: { id: 1, name: "Rex", owner: { nick: null, pets: [] } } });
    expect(await agent.call("pet_show", { petId: "a/b c" })).toMatchObject({
      structuredContent: { id: 1, name: "Rex", owner: { nick: null } },
    });
    expect(await agent.call("createPet", { body: { name: "Rex" } })).toMatchObject({ structuredContent: { id: 1 } });
    expect((await agent.call("createPet", { body: { name: "" } }))["isError"]).toBe(true);
    api.answer = (_request, response) => void response.writeHead(204).end();
    expect((await agent.call("deletePet", { petId: "7" }))["isError"] ?? false).toBe(false);
    api.answer = (_request, response) => json(response, 200, { value: { up: true } });
    expect(JSON.stringify(await agent.read((await agent.resources())[0] ?? ""))).toContain('{\\"up\\":true}');
    expect(api.received.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      "GET /v1/pets/a%2Fb%20c ",
      'POST /v1/pets {"name":"Rex"}',
      "DELETE /v1/pets/7 ",
      "GET /v1/health ",
    ]);
  });

  it("lists the schemas of what is exposed, without the fields of the other side", async () => {
    const { tools } = await clientOf(all, {}, petstore(version)).request("tools/list", {});
    const text = JSON.stringify(tools);
    expect(tools).toMatchObject([
      { name: "createPet", annotations: { destructiveHint: true } },
      { name: "deletePet", annotations: { destructiveHint: true } },
      { name: "listPets", title: "List pets", annotations: { readOnlyHint: true } },
      { name: "pet_show", title: "Show", description: "Show one", annotations: { readOnlyHint: true } },
    ]);
    const [create, , list] = tools as readonly { inputSchema: { properties: Record<string, never> } }[];
    expect(Object.keys(list?.inputSchema.properties ?? {})).toEqual(["limit", "tags", "ids", "filter", "X-Trace"]);
    expect(list?.inputSchema.properties["limit"]).toMatchObject({ type: "integer", exclusiveMinimum: 0 });
    expect(Object.keys(create?.inputSchema.properties["body"]?.["properties"] ?? {})).toEqual([
      "name",
      "owner",
      "secret",
    ]);
    expect(text).not.toContain("nullable");
    expect(text).not.toContain("hidePet");
  });
});

describe("a request", () => {
  it("has the declared parameters in their styles, and no others", async () => {
    const client = clientOf();
    const args = { limit: 5, tags: ["a&b", "c"], ids: [1, 2], filter: { kind: "x=1" }, "X-Trace": "t" };
    expect(textIn(await call(client, "listPets", args))).toBe('{"value":[]}');
    const [{ url, headers } = { url: "", headers: {} }] = api.received;
    expect(url).toBe("/v1/pets?limit=5&tags=a%26b&tags=c&ids=1,2&filter%5Bkind%5D=x%3D1");
    expect(headers).toMatchObject({ "x-trace": "t", accept: "application/json" });
    expect(headers.cookie ?? headers.authorization).toBeUndefined();
    expect(textIn(await call(client, "listPets", { Authorization: "mine" }))).toContain("VALIDATION_ERROR");
    expect(textIn(await call(client, "listPets", { "X-Trace": "a\r\nhost: b" }))).toContain("no header can hold");
    expect(api.received).toHaveLength(1);
  });

  it("carries the credentials of its own operation and caller, and they win over arguments", async () => {
    const asked: unknown[] = [];
    const client = clientOf(all, {
      credentials: (operation, caller, signal) => {
        asked.push([operation, caller.id, signal.aborted]);
        return { Authorization: "Bearer s3cret", "x-trace": "own" };
      },
    });
    await call(client, "listPets", { "X-Trace": "t" });
    expect(api.received[0]?.headers).toMatchObject({ authorization: "Bearer s3cret", "x-trace": "own" });
    expect(asked).toEqual([[{ key: "listPets", method: "GET", path: "/pets", security: [] }, "anonymous", false]]);
  });

  it.each([{ authorization: "Bearer s3cret\n" }, { authorization: 5 }, { authorization: "s3cret é" }])(
    "is not sent with the credentials %j, and no log has them",
    async (headers) => {
      const client = clientOf(all, { credentials: () => headers as Record<string, string> });
      expect(textIn(await call(client, "deletePet", { petId: "1" }))).toMatch(/^INTERNAL/);
      expect(logged()).toContain("authorization");
      expect(logged()).not.toContain("s3cret");
      expect(api.received).toEqual([]);
    },
  );

  it.each([
    ["a text", () => "Bearer s3cret"],
    ["nothing", () => undefined],
    ["null", () => null],
    ["a list", () => [["authorization", "s3cret"]]],
    ["Headers", () => new Headers({ authorization: "s3cret" })],
    ["a map", () => new Map([["authorization", "s3cret"]])],
    ["a header without a name", () => ({ "": "s3cret" })],
    ["a header with a name that none has", () => ({ "api key": "s3cret" })],
    ["a header of the connection", () => ({ "transfer-encoding": "s3cret" })],
  ])("is not sent without its credentials, or with others, if they are %s: that is logged", async (_, returned) => {
    const client = clientOf(all, { credentials: () => returned() as Record<string, string> });
    expect(textIn(await call(client, "deletePet", { petId: "1" }))).toMatch(/^INTERNAL/);
    expect(faults).toHaveLength(1);
    expect(logged()).not.toContain("s3cret");
    expect(api.received).toEqual([]);
  });

  it("never has a key of the document, or another method or path, from an agent", async () => {
    const document = petstore("3.1.0");
    const names = ["X-Api-Key", "X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-URL", "X-Real-IP", "X-Trace"];
    const parameters = [
      ...names.map((name) => ({ name, in: "header" })),
      ...["key", "limit"].map((name) => ({ name, in: "query" })),
    ];
    Object.assign(document.paths["/health"].get, { parameters });
    const inHeader = { type: "apiKey", in: "header", name: "x-api-key" };
    const securitySchemes = { inHeader, inQuery: { type: "apiKey", in: "query", name: "key" } };
    Object.assign(document.components, { securitySchemes });
    const client = clientOf({ health: "read" }, { credentials: () => ({}) }, document);
    const { tools } = await client.request("tools/list", {});
    expect(tools).toMatchObject([{ inputSchema: { additionalProperties: false } }]);
    const [{ inputSchema }] = tools as [{ readonly inputSchema: { readonly properties: object } }];
    expect(Object.keys(inputSchema.properties)).toEqual(["X-Trace", "limit"]);
  });

  it("is not sent if the credentials fail: a refusal is passed on, an error masked", async () => {
    let failure: Error = new Refusal("SIGN_IN", "sign in first");
    const client = clientOf(all, { credentials: () => Promise.reject(failure) });
    expect(textIn(await call(client, "listPets"))).toContain("SIGN_IN: sign in first");
    failure = new Error("vault at 10.0.0.1 is down");
    expect(textIn(await call(client, "deletePet", { petId: "1" }))).toMatch(/^INTERNAL: an internal error occurred/);
    expect(logged()).toContain("10.0.0.1");
    expect(api.received).toEqual([]);
  });

  it("carries no header of its caller", async () => {
    const resource = "https://mcp.example/mcp";
    const verify = async () => ({ id: "ann", scopes: ["pets:read", "pets:write"], resource });
    const serving = await http({ port: 0, exit: false, auth: bearer({ resource, verify }) }).serve(appOf());
    closing.push(serving);
    for (const { connect } of agentKinds) {
      const agent = await connect({ url: serving.url, token: "of-the-caller" });
      closing.push(agent);
      await agent.call("deletePet", { petId: "1" });
    }
    expect(api.received).toHaveLength(agentKinds.length);
    expect(JSON.stringify(api.received)).not.toMatch(/of-the-caller|mcp-|authorization|"cookie/);
  });

  it("carries an idempotency key that its caller chooses, so that the same call may be repeated", async () => {
    const document = petstore("3.1.0");
    const key = { name: "Idempotency-Key", in: "header", required: true, schema: { type: "string" } };
    Object.assign(document.paths["/pets"].post, { parameters: [key] });
    const client = clientOf(all, {}, document);
    const args = { "Idempotency-Key": "k1", body: { name: "Rex" } };
    api.answer = (_, response) => void response.socket?.destroy();
    expect(textIn(await call(client, "createPet", args))).toMatch(/^OUTCOME_UNKNOWN/);
    api.answer = (_, response) => json(response, 200, { value: { id: 1, name: "Rex" } });
    expect(textIn(await call(client, "createPet", args))).toContain('"id":1');
    expect(api.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["k1", "k1"]);
    expect(textIn(await call(client, "createPet", { body: { name: "Rex" } }))).toContain("VALIDATION_ERROR");
  });

  it.each([
    "",
    ".",
    "..",
    "%2e",
    "%2E%2e",
    ".%2e",
    "%252e%252e",
    "../admin",
    "..\\admin",
    "a/../b",
    "..;x",
    "..%2fadmin",
    ".\t.",
    "..\0",
    "\u0085.",
  ])("is not made of the path value %j", async (petId) => {
    expect(textIn(await call(clientOf(), "pet_show", { petId }))).toContain("VALIDATION_ERROR");
    expect(api.received).toEqual([]);
  });
});

describe("a response", () => {
  const show = (client = clientOf()): Promise<Result> => call(client, "pet_show", { petId: "1" });

  it("of 4xx is a refusal, with its body only if the document declares it", async () => {
    api.answer = (_, response) => json(response, 404, { value: { problem: "gone", id: 7 } });
    expect(await show()).toMatchObject({ isError: true });
    // A model reads the text, and no details.
    expect(textIn(await show())).toBe(
      'UPSTREAM_404: the API refused the request with status 404: There is no such pet; it says {"problem":"gone","id":7}',
    );
    expect(errorIn(await show())).toMatchObject({ details: { problem: "gone" } });
    api.answer = (_, response) => json(response, 404, { value: { trace: "at db.js:1" } });
    expect(JSON.stringify(await show())).not.toContain("db.js");
    api.answer = (_, response) => json(response, 403, { value: { problem: "ask root@corp" } });
    expect(textIn(await show())).toBe("UPSTREAM_403: the API refused the request with status 403");
    expect(JSON.stringify(await show())).not.toContain("root@corp");
    expect(faults).toEqual([]);
  });

  it("of 429 may be retried after its time", async () => {
    api.answer = (_, response) => json(response, 429, { value: {}, headers: { "retry-after": "3" } });
    const answer = await show();
    expect(textIn(answer)).toContain(
      "UPSTREAM_429: the API refused the request with status 429: wait 3000 ms before the next",
    );
    expect(errorIn(answer)).toMatchObject({ retryable: true, details: { retryAfterMs: 3000 } });
  });

  it.each([
    ["a date", () => new Date(Date.now() + 90_000).toUTCString(), 90_000],
    ["a date that has passed", () => new Date(0).toUTCString(), 0],
    ["a century", () => "999999999", 86_400_000],
  ])("of 429 may be retried after %s", async (_name, header, most) => {
    api.answer = (_, response) => json(response, 429, { value: {}, headers: { "retry-after": header() } });
    const error = errorIn(await show()) as { readonly details: { readonly retryAfterMs: number } };
    expect(error.details.retryAfterMs).toBeGreaterThanOrEqual(Math.max(0, most - 60_000));
    expect(error.details.retryAfterMs).toBeLessThanOrEqual(most);
  });

  it.each(["", "soon", "-5", "1e3"])(
    "of 429 without a time that can be read, %j, may be retried too",
    async (given) => {
      api.answer = (_, response) => json(response, 429, { value: {}, headers: { "retry-after": given } });
      const error = errorIn(await show());
      expect(error).toMatchObject({ retryable: true });
      expect(error).not.toHaveProperty("details");
    },
  );

  it.each([
    [500, "the API failed with status 500"],
    [503, "the API failed with status 503"],
    [301, "the API answered with status 301, a redirect that is not followed"],
    [303, "the API answered with status 303, a redirect that is not followed"],
    [307, "the API answered with status 307, a redirect that is not followed"],
  ])("of %d names the status alone, and leaves the outcome of a change unknown", async (status, problem) => {
    api.answer = (_, response) =>
      json(response, status, { value: { at: "db.js" }, headers: { location: "http://127.0.0.1:1/steal" } });
    expect(textIn(await show())).toBe(`UPSTREAM_${status}: ${problem}`);
    const { retryable } = errorIn(await show()) as { readonly retryable?: boolean };
    expect(retryable).toBe(status >= 500 ? true : undefined);
    expect(textIn(await call(clientOf(), "createPet", { body: { name: "R" } }))).toBe(
      `OUTCOME_UNKNOWN: ${problem}, and whether the change was made is unknown: read the state before you try again`,
    );
    expect(api.received).toHaveLength(3);
  });

  it("that is a text is the content of a resource as it is, with the media type of the document", async () => {
    const document = petstore("3.1.0");
    const ok = { description: "Fine", content: { "text/markdown": {} } };
    Object.assign(document.paths["/health"].get, { responses: { "200": ok } });
    const client = clientOf({ health: "resource" }, {}, document);
    api.answer = (_, response) => void response.writeHead(200, { "content-type": "text/markdown" }).end('# "Up"');
    const uri = "surface://pets/health";
    const { resources } = await client.request("resources/list", {});
    expect(resources).toMatchObject([{ uri, mimeType: "text/markdown" }]);
    expect(await client.request("resources/read", { uri })).toMatchObject({
      contents: [{ mimeType: "text/markdown", text: '# "Up"' }],
    });
  });

  it("that is not what the document declares is withheld", async () => {
    api.answer = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<b>Sign in</b>");
    expect(textIn(await show())).toMatch(/^INVALID_OUTPUT/);
    api.answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"id":');
    expect(textIn(await show())).toMatch(/^INVALID_OUTPUT/);
    api.answer = (_, response) => json(response, 200, { value: { id: "one" } });
    expect(textIn(await show())).toMatch(/^INVALID_OUTPUT/);
    api.answer = (_, response) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(Buffer.from([0xff]));
    expect(textIn(await show())).not.toContain("\uFFFD");
  });

  it.each(["<b>Sign in</b>", '{"id":', "\u{FEFF}", Buffer.from([0xff, 0xfe, 0x7b])])(
    "of 2xx to a change, %j, is withheld, and says that the change may have been made",
    async (body) => {
      api.answer = (_, response) =>
        void response.writeHead(200, { "content-type": "application/json; charset=utf-16" }).end(body);
      expect(textIn(await call(clientOf(), "createPet", { body: { name: "R" } }))).toMatch(
        /^INVALID_OUTPUT: .+ withheld; the call may have taken effect: read the state before you try again; it is logged under/,
      );
      expect(faults).toHaveLength(1);
      expect(textIn(await show())).toMatch(/^INVALID_OUTPUT: .+ withheld; it is logged under/);
    },
  );

  it("is read up to a bound, also behind compression and without an end", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "1"));
    const type = { "content-type": "application/json" };
    api.answer = (_, response) => void response.writeHead(200, { ...type, "content-encoding": "gzip" }).end(bomb);
    expect(textIn(await show())).toContain("UPSTREAM_TOO_LARGE");
    let isOpen = true;
    api.answer = (_, response) => {
      response.writeHead(200, type);
      const more = (): void => void (isOpen && response.write("1".repeat(65_536), () => setImmediate(more)));
      response.on("close", () => void (isOpen = false));
      more();
    };
    expect(textIn(await show())).toContain("UPSTREAM_TOO_LARGE");
    await expect.poll(() => isOpen).toBe(false);
  });

  it("that never comes ends with the deadline of the call, and its connection with it", async () => {
    // On a busy machine the deadline may pass before the request arrives.
    let isOpen = false;
    api.answer = (_, response) => {
      isOpen = true;
      response.on("close", () => void (isOpen = false));
    };
    const client = clientOf({ showPet: { read: { timeoutMs: 100 } }, deletePet: { write: { timeoutMs: 100 } } });
    expect(textIn(await call(client, "showPet", { petId: "1" }))).toMatch(/^TIMEOUT: the deadline passed/);
    await expect.poll(() => isOpen).toBe(false);
    expect(textIn(await call(client, "deletePet", { petId: "1" }))).toContain(
      "whether the call took effect is unknown",
    );
  });

  it("that begins, and whose end never comes, ends with the deadline of the call too", async () => {
    let isOpen = false;
    api.answer = (_, response) => {
      isOpen = true;
      response.writeHead(200, { "content-type": "application/json" }).write('{"id":');
      response.on("close", () => void (isOpen = false));
    };
    const client = clientOf({ showPet: { read: { timeoutMs: 100 } } });
    expect(textIn(await call(client, "showPet", { petId: "1" }))).toMatch(/^TIMEOUT: the deadline passed/);
    await expect.poll(() => isOpen).toBe(false);
  });

  it("that breaks leaves the outcome of a change unknown, and that of a read masked", async () => {
    api.answer = (_, response) => void response.socket?.destroy();
    expect(textIn(await call(clientOf(), "deletePet", { petId: "1" }))).toMatch(/^OUTCOME_UNKNOWN/);
    expect(textIn(await show())).toMatch(/^INTERNAL/);
    api.answer = (_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "50" }).write('{"id":1');
      setImmediate(() => response.socket?.destroy());
    };
    expect(textIn(await call(clientOf(), "createPet", { body: { name: "R" } }))).toMatch(/^OUTCOME_UNKNOWN/);
  });

  it("that never began is masked for a change too: nothing was sent", async () => {
    const client = clientOf();
    await api.close();
    expect(textIn(await call(client, "deletePet", { petId: "1" }))).toMatch(/^INTERNAL/);
  });
});
