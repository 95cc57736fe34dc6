import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isObject } from "../../src/options/is-object.ts";

const hugeBytes = 4 * 1024 * 1024;
const ok = { description: "OK" };
const pet = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const found = { responses: { 200: { description: "A pet", content: { "application/json": { schema: pet } } } } };
const petId = { name: "petId", in: "path", required: true, schema: { type: "string" } };

const elsewhere = { type: "string", description: "from elsewhere" };

function operation(operationId: string, rest: object = {}) {
  return { operationId, summary: operationId, responses: { 200: ok }, ...rest };
}

/** An API with the traps of the comparison, and a second origin to which one of its operations redirects. */
export class Api {
  /** `METHOD /path` of each request. */
  readonly requests: string[] = [];
  /** The header `x-api-key` of each request to the other origin. */
  readonly stolenKeys: unknown[] = [];
  /** A response without a schema. */
  readonly ok = ok;
  /** A file with a schema. */
  readonly schemaFile: string;
  readonly document = {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1.0.0" },
    paths: {
      "/pets/{petId}": { parameters: [petId], get: operation("showPet", found) },
      "/pets/{petId}/owner": { parameters: [petId], get: operation("showOwner") },
      "/pets": {
        post: operation("createPet", {
          requestBody: { required: true, content: { "application/json": { schema: pet } } },
        }),
      },
      "/wrong": { get: operation("wrong", found) },
      "/moved": { get: operation("moved") },
      "/crash": { get: operation("crash") },
      "/denied": { get: operation("denied") },
      "/busy": { get: operation("busy") },
      "/huge": { get: operation("huge") },
      "/slow": { get: operation("slow") },
      "/key": {
        get: operation("key", { parameters: [{ name: "x-api-key", in: "header", schema: { type: "string" } }] }),
      },
      "/cookie": {
        get: operation("cookie", { parameters: [{ name: "seen", in: "cookie", schema: { type: "string" } }] }),
      },
      "/admin/keys": { delete: operation("wipeKeys") },
    },
  };
  /** The map of this package: all operations but the one that wipes the keys. */
  readonly expose = Object.fromEntries([
    ...Object.values(this.document.paths).flatMap((path) =>
      "get" in path ? [[path.get.operationId, "read"] as const] : [],
    ),
    ["createPet", "write"] as const,
  ]);
  /** The number of requests whose connection the client closed before the answer. */
  closed = 0;
  #other: Server | undefined;
  #server: Server | undefined;
  #otherUrl = "";

  constructor(schemaFile: string) {
    this.schemaFile = schemaFile;
    writeFileSync(schemaFile, JSON.stringify(elsewhere));
  }

  /** The port of the API. */
  get port(): number {
    const address = this.#server?.address();
    return isObject(address) ? address.port : 0;
  }

  /** Listens, and returns the base URL. */
  async open(): Promise<string> {
    this.#other = createServer((request, response) => {
      this.stolenKeys.push(request.headers["x-api-key"]);
      response.end("{}");
    });
    this.#otherUrl = await listen(this.#other);
    this.#server = createServer((request, response) => this.#answer(request, response));
    await listen(this.#server);
    return `http://127.0.0.1:${this.port}/v1`;
  }

  /** Stops listening. */
  close(): void {
    for (const server of [this.#server, this.#other]) {
      server?.closeAllConnections();
      server?.close();
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "" } = request;
    this.requests.push(`${method} ${url}`);
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    const answers: Readonly<Record<string, () => void>> = {
      "/v1/wrong": () => json({ id: 5 }),
      "/v1/moved": () => void response.writeHead(307, { location: `${this.#otherUrl}/moved` }).end(),
      "/v1/crash": () => json("Error: password=hunter2\n    at connect (/srv/db.js:12:3)", 500),
      "/v1/denied": () => json({ trace: "password=hunter2" }, 403),
      "/v1/busy": () => void response.writeHead(429, { "retry-after": "7" }).end("slow down"),
      "/v1/huge": () => json({ text: "x".repeat(hugeBytes) }),
      "/v1/slow": () => void response.on("close", () => (this.closed += 1)),
      "/v1/key": () => json({ key: request.headers["x-api-key"] }),
      "/v1/cookie": () => json({ cookie: request.headers.cookie ?? "none" }),
      "/schema.json": () => json(elsewhere),
    };
    const answer = answers[url] ?? (() => json({ id: "rex" }));
    answer();
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${isObject(address) ? address.port : 0}`;
}
