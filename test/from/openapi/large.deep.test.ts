import { expect, it } from "vitest";
import { fromOpenApi } from "../../../src/from/openapi/openapi.ts";

/** Returns a document of more than 10 MB as JSON. */
function createLarge(): string {
  const properties = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`field${index}`, { type: "string", description: "d".repeat(60) }]),
  );
  const operationOf = (index: number): object => ({
    operationId: `op${index}`,
    parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
    responses: {
      200: {
        description: "It",
        content: { "application/json": { schema: { $ref: `#/components/schemas/S${index}` } } },
      },
    },
  });
  const indexes = Array.from({ length: 5000 }, (_, index) => index);
  return JSON.stringify({
    openapi: "3.0.3",
    paths: Object.fromEntries(indexes.map((index) => [`/things${index}/{id}`, { get: operationOf(index) }])),
    components: { schemas: Object.fromEntries(indexes.map((index) => [`S${index}`, { type: "object", properties }])) },
  });
}

it("mounts some operations of a document of 10 MB, and converts no others", () => {
  const text = createLarge();
  expect(text.length).toBeGreaterThan(10_000_000);
  // The document is the author's own, however it was read.
  const document = JSON.parse(text) as { openapi: string };
  const before = process.memoryUsage().heapUsed;
  const start = performance.now();
  const source = fromOpenApi(
    document,
    { op17: "read", "GET /things4999/{id}": "read" },
    { baseUrl: "https://a.example" },
  );
  const [spent, grown] = [performance.now() - start, process.memoryUsage().heapUsed - before];
  expect(source.list()).toHaveLength(2);
  // 60 ms, and nothing that stays, on a busy machine. The bound on time is for one that hangs.
  expect(spent).toBeLessThan(10_000);
  expect(grown).toBeLessThan(100_000_000);
});
