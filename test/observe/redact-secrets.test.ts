import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  redactSecrets,
  type JsonValue,
  type Observation,
} from "../../src/index.ts";
import { doors as transports } from "../properties/tested-transports.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { createObservedApp } from "./observed-app.ts";

const redact = redactSecrets({ names: ["ssn", "Account Number"] });

/** Nests a value in objects. */
function nest(value: JsonValue, levels: number): JsonValue {
  return levels === 0 ? value : { in: nest(value, levels - 1) };
}

describe("redactSecrets()", () => {
  it.each([
    ...["password", "Password", "user_password", "passwd", "passphrase", "secret", "client-secret", "secrets"],
    ...["token", "access_token", "accessToken", "refreshTokens", "token2", "Authorization", "proxy-authorization"],
    ...["cookie", "Set-Cookie", "apiKey", "api_key", "x-api-key", "private_key", "privateKey", "credentials", "pin"],
    ...["ssn", "S.S.N", "accountNumber", "account_number"],
  ])("replaces the value of %s, of any type and at any depth", (name) => {
    for (const value of ["sentinel", 7, ["sentinel"], { more: "sentinel" }]) {
      expect(redact([{ a: { [name]: value } }], undefined)).toEqual([{ a: { [name]: "[redacted]" } }]);
    }
  });

  it.each(["user", "tokenizer", "spinner", "passed", "keyboard", "author"])("keeps the value of %s", (name) => {
    expect(redact({ [name]: "shown" }, undefined)).toEqual({ [name]: "shown" });
  });

  it("replaces fields whose schema says so: by property, reference, list, alternative and further properties", () => {
    const secret = { type: "string", writeOnly: true };
    const schema = {
      properties: {
        a: secret,
        b: { $ref: "#/$defs/hidden" },
        c: { items: { anyOf: [{ type: "number" }, { "x-sensitive": true }] } },
        d: { additionalProperties: { format: "password" } },
        e: { allOf: [{ properties: { f: { prefixItems: [secret] } } }] },
      },
      $defs: { hidden: { "x-sensitive": true } },
    } as never;
    const value = { a: "x", b: { deep: "x" }, c: ["x"], d: { any: "x" }, e: { f: ["x"] }, g: "shown" };
    expect(redact(value, schema)).toEqual({
      ...{ a: "[redacted]", b: "[redacted]", c: ["[redacted]"], d: { any: "[redacted]" } },
      ...{ e: { f: ["[redacted]"] }, g: "shown" },
    });
  });

  it("ends with a schema that refers to itself", () => {
    const schema = { $ref: "#", properties: { next: { $ref: "#" }, pass: { writeOnly: true } } } as never;
    expect(redact({ next: { next: { pass: "x" } } }, schema)).toEqual({ next: { next: { pass: "[redacted]" } } });
  });

  it("replaces secrets in JSON within texts", () => {
    const text = JSON.stringify([{ token: "sentinel", shown: 1 }]);
    expect(redact({ body: text }, undefined)).toEqual({ body: '[{"token":"[redacted]","shown":1}]' });
  });

  it("bounds depth, values, texts and names, and keeps __proto__ a name", () => {
    expect(JSON.stringify(redact(nest("sentinel", 40), undefined))).not.toContain("sentinel");
    const many = JSON.stringify(
      redact(
        Array.from({ length: 100_000 }, () => 1),
        undefined,
      ),
    );
    expect(many.length).toBeLessThan(3000);
    const tokens = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`token${index}`, "sentinel"]));
    expect(Object.keys(Object(redact(tokens, undefined))).length).toBeLessThan(1002);
    expect(JSON.stringify(redact({ ["k".repeat(9999)]: "v".repeat(99_999) }, undefined)).length).toBeLessThan(2300);
    const own: JsonValue = JSON.parse('{"__proto__":{"password":"sentinel"}}');
    expect(JSON.stringify(redact(own, undefined))).toBe('{"__proto__":{"password":"[redacted]"}}');
  });

  it("refuses unknown options", () => {
    expect(() => redactSecrets({ name: [] } as never)).toThrow("Cannot redact values");
  });
});

/** Creates an app whose only view is a gateway, with secrets that only their schemas mark. */
function createRelayingApp() {
  const hidden = z.string().meta({ "x-sensitive": true });
  const records: Observation[] = [];
  const vault = defineSurface("vault", {
    key: mcpResource(cell({ schema: z.object({ key: hidden }) })),
    login: mcpTool(procedure({ input: z.object({ code: hidden }), output: z.object({ key: hidden }) })),
  });
  const app = mcp(vault, { observe: { record: (record) => void records.push(record), values: redact } })
    .implement({ key: cellSource({ key: "sentinel-key" }), login: () => ({ key: "sentinel-out" }) })
    .pull()
    .views({ default: { face: "gateway" } });
  return { app, records };
}

const networkTransports = transports.filter(({ name }) => !name.startsWith("the test client"));
const login = {
  name: "login",
  arguments: { user: "shown-user", password: "sentinel-1", pin: "sentinel-2", list: [{ apiKey: "sentinel-3" }] },
};

describe.each(networkTransports)("records over $name", (transport) => {
  it("have arguments and results without secrets for an observer with values, and none for others", async () => {
    const { app, records } = createObservedApp();
    const rich: Observation[] = [];
    app.observe({ record: (record) => void rich.push(record), values: redact });
    const open = await transport.open(app, undefined);
    expect((await open.ask("tools/call", login)).text).toContain("sentinel-out");
    await open.ask("prompts/get", { name: "greet", arguments: { who: "shown-name" } });
    await open.close();
    const calls = rich.filter((record) => "method" in record && record.method === "tools/call");
    expect(calls).toMatchObject([
      {
        type: "request-start",
        arguments: { user: "shown-user", password: "[redacted]", pin: "[redacted]", list: [{ apiKey: "[redacted]" }] },
      },
      { type: "request-end", result: { user: "shown-user", session_token: "[redacted]" } },
    ]);
    expect(JSON.stringify(rich)).toContain("shown-name");
    expect(JSON.stringify(rich)).not.toContain("sentinel");
    expect(JSON.stringify(records)).not.toMatch(/sentinel|shown/);
  });

  it("have no values that a tool relays, or that no schema describes", async () => {
    const { app, records } = createRelayingApp();
    const open = await transport.open(app, undefined);
    const inner = { tool: "login", input: { code: "sentinel-in" } };
    expect((await open.ask("tools/call", { name: "call", arguments: { calls: [inner] } })).text).toContain(
      "sentinel-out",
    );
    const read = { tool: "read_resource", input: { uri: "surface://vault/key" } };
    expect((await open.ask("tools/call", { name: "call", arguments: { calls: [read] } })).text).toContain(
      "sentinel-key",
    );
    await open.ask("tools/call", { name: "login", arguments: { code: "sentinel-hidden" } });
    await open.close();
    expect(records.filter(({ type }) => type.startsWith("call-"))).toMatchObject([
      { type: "call-start", operation: { id: "login" }, arguments: { code: "[redacted]" } },
      { type: "call-end", operation: { id: "login" }, result: { key: "[redacted]" } },
      { type: "call-start", operation: { id: "read_resource" } },
      { type: "call-end", operation: { id: "read_resource" } },
    ]);
    expect(JSON.stringify(records)).not.toContain("sentinel");
  });

  it("have no values when the redactor throws, and the answer is the same", async () => {
    const { app, faults } = createObservedApp();
    const seen: Observation[] = [];
    const values = (): never => {
      throw new Error("redactor");
    };
    app.observe({ record: (record) => void seen.push(record), values });
    const open = await transport.open(app, undefined);
    expect((await open.ask("tools/call", login)).text).toContain("sentinel-out");
    await open.close();
    expect(JSON.stringify(seen)).not.toContain("sentinel");
    expect(faults.map(String)).toEqual(["Error: redactor"]);
  });
});
