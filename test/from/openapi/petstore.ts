/** A document in the shape of the usual pet store, in both versions, and an API that answers by it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const pet = {
  type: "object",
  required: ["id", "name"],
  properties: {
    id: { type: "integer", readOnly: true },
    name: { type: "string", minLength: 1 },
    owner: { $ref: "#/components/schemas/Owner" },
    secret: { type: "string", writeOnly: true },
  },
};
const problem = { type: "object", required: ["problem"], properties: { problem: { type: "string" } } };

function responses(schema: object): object {
  return {
    "200": { description: "It worked", content: { "application/json": { schema } } },
    "404": { description: "There is no such pet", content: { "application/json": { schema: problem } } },
  };
}

function listParameters(is30: boolean): readonly object[] {
  const aboveZero = is30
    ? { type: "integer", minimum: 0, exclusiveMinimum: true }
    : { type: "integer", exclusiveMinimum: 0 };
  return [
    { name: "limit", in: "query", schema: aboveZero },
    { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
    { name: "ids", in: "query", explode: false, schema: { type: "array", items: { type: "integer" } } },
    {
      ...{ name: "filter", in: "query", style: "deepObject", explode: true },
      schema: { type: "object", properties: { kind: { type: "string" } } },
    },
    { name: "session", in: "cookie", required: true, schema: { type: "string" } },
    { name: "Authorization", in: "header", required: true, schema: { type: "string" } },
    { name: "X-Trace", in: "header", schema: { type: "string" } },
  ];
}

/** Returns the document. Schemas differ in the words for null. */
export function petstore(version: "3.0.3" | "3.1.0") {
  const is30 = version === "3.0.3";
  const nullable = is30 ? { type: "string", nullable: true } : { type: ["string", "null"] };
  const petRef = { $ref: "#/components/schemas/Pet" };
  return {
    openapi: version,
    info: { title: "Pets", version: "1" },
    servers: [{ url: "https://evil.example" }],
    paths: {
      "/pets": {
        get: {
          operationId: "listPets",
          summary: "List pets",
          parameters: listParameters(is30),
          responses: {
            "200": {
              description: "Pets",
              content: { "application/json": { schema: { type: "array", items: petRef } } },
            },
          },
        },
        post: {
          operationId: "createPet",
          requestBody: { required: true, content: { "application/json": { schema: petRef } } },
          responses: responses(petRef),
        },
        head: { operationId: "countPets", responses: { "200": { description: "The number is in a header" } } },
      },
      "/pets/{petId}": {
        parameters: [{ name: "petId", in: "path", required: true, schema: { type: "string" } }],
        get: { operationId: "showPet", description: "Show one", responses: responses(petRef) },
        delete: { operationId: "deletePet", responses: { "204": { description: "Deleted" } } },
        patch: { operationId: "hidePet", "x-mcp": false, responses: {} },
      },
      "/health": { get: { operationId: "health", responses: { "200": { description: "Fine" } } } },
    },
    components: {
      schemas: {
        Pet: pet,
        Owner: {
          type: "object",
          properties: { nick: nullable, pets: { type: "array", items: petRef } },
        },
      },
    },
  };
}

/** A request as the API has received it. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An API of which a test says how it answers. */
export class Api {
  readonly received: Received[] = [];
  answer: (request: Received, response: ServerResponse) => void = (_, response) => json(response, 200, { value: [] });
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      // A client that gives up may leave before its request was read.
      this.#take(request, response).catch(() => response.destroy());
    });
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { method = "", url = "", headers } = request;
    const received = { method, url, headers, body };
    this.received.push(received);
    this.answer(received, response);
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
    // A server that listens on a port has such an address.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}

/** Answers JSON. */
export function json(
  response: ServerResponse,
  status: number,
  { value, headers = {} }: { readonly value: unknown; readonly headers?: Readonly<Record<string, string>> },
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}
