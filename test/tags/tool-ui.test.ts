import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { readExposure } from "../../src/lock/read-exposure.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { cast, expectRefusal } from "./support.ts";

const plain = procedure({ output: z.string() });
const html = "<p>";
const tag = (ui: unknown): unknown => cast(mcpTool, plain, { ui });

/** The ways to give a tool the option `ui`. */
const ways: Readonly<Record<string, (ui: unknown) => unknown>> = {
  "a tag": tag,
  "an expose map": (ui) => {
    const app = mcp(defineSurface("s", { act: plain }));
    return cast(app.expose.bind(app), { act: { tool: { ui } } });
  },
  "a tool by hand": (ui) => {
    const app = mcp(defineSurface("s", { act: plain })).implement({ act: () => "" });
    return cast(app.tools.bind(app), { other: { handler: () => "", ui } });
  },
};

describe.each(Object.entries(ways))("the option ui of %s", (_name, give) => {
  it.each([
    ["nothing", {}],
    ["null", null],
    ["a text", "<p>"],
    ["a path instead of HTML", { html: "./page.html" }],
    ["HTML above 4 MiB", { html: html.padEnd(4_194_305) }],
    ["a remote page", { html: new URL("https://example.com/") }],
    ["bytes", { html: new Uint8Array(8) }],
    ["no users", { html, visibility: [] }],
    ["unknown users", { html, visibility: ["user"] }],
    ["users that are no list", { html, visibility: "app" }],
    ["a policy without a page", { visibility: ["app"], csp: {} }],
    ["permissions without a page", { visibility: ["app"], permissions: { camera: true } }],
    ["an unknown permission", { html, permissions: { usb: true } }],
    ["a permission as an object", { html, permissions: { camera: {} } }],
    ["an unknown list of origins", { html, csp: { scriptDomains: [] } }],
    ["too many origins", { html, csp: { connectDomains: Array.from({ length: 65 }, () => "https://a.example") } }],
    ["an unknown field", { html, resourceUri: "ui://x" }],
    ["a domain with a path", { html, domain: "a.example/b" }],
    ["a border that is a text", { html, prefersBorder: "yes" }],
  ])("refuses %s", (_what, ui) => {
    expectRefusal(() => give(ui), "INVALID_OPTION", "ui");
  });

  it.each([
    "*",
    "https://*",
    "https:",
    "'unsafe-eval'",
    "https://a.example; script-src *",
    "https://a.example 'self'",
    "https://a.example/path",
    "https://a.example\n",
    "https://*.*.example",
    "https://a.example:443:443",
    "data:",
    "javascript:alert(1)",
    "https://user@a.example",
    "",
    null,
  ])("refuses the origin %j, which could change the policy", (origin) => {
    expectRefusal(
      () => give({ html, csp: { resourceDomains: [origin] } }),
      "INVALID_OPTION",
      "ui.csp.resourceDomains.0",
    );
  });
});

describe("the option ui", () => {
  it("admits no origin that ends a directive or adds one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), fc.constantFrom("", "https://", "wss://*.a"), (text, start) => {
        const origin = start + text;
        try {
          tag({ html, csp: { connectDomains: [origin] } });
        } catch {
          return;
        }
        expect(origin).toMatch(/^(?:https?|wss?):\/\/[\w.:*-]+$/);
      }),
    );
  });

  it.each(["https://a.example", "http://localhost:3000", "wss://*.a-b.example:8443", "https://A.EXAMPLE"])(
    "admits the origin %s",
    (origin) => {
      expect(() => tag({ html, csp: { connectDomains: [origin] } })).not.toThrow();
    },
  );

  it("keeps its own copy when lists are changed afterwards", () => {
    const origins = ["https://a.example"];
    const tagged = mcpTool(plain, { ui: { html, csp: { connectDomains: origins } } });
    origins.push("https://b.example");
    const app = mcp(defineSurface("s", { act: tagged })).implement({ act: () => "" });
    expect(readExposure(app).tools["act"]).toHaveProperty("ui.csp.connectDomains", ["https://a.example"]);
  });

  it("refuses a tool whose meta has the keys of a page, and a resource under the URI of a page", () => {
    const both = mcpTool(plain, { ui: { html }, meta: { ui: {} } });
    const open = (member: typeof both): unknown =>
      mcp(defineSurface("s", { act: member }))
        .implement({ act: () => "" })
        .open();
    expectRefusal(() => open(both), "CONTRADICTION", '"ui"');
    const app = mcp(defineSurface("s", { act: mcpTool(plain, { ui: { html } }) }))
      .implement({ act: () => "" })
      .resources({ page: { uri: "ui://s/act", read: () => "" } });
    expectRefusal(() => app.open(), "NAME_COLLISION", "ui://s/act");
  });
});

describe("a tool for pages alone", () => {
  const app = mcp(defineSurface("s", { act: mcpTool(plain, { ui: { visibility: ["app"] } }) }))
    .implement({ act: () => "acted" })
    .tools({ other: { ui: { visibility: ["app"] }, mutates: false, handler: () => "done" } });

  it("counts in every list of what agents reach, and is reached", async () => {
    expect(Object.keys(readExposure(app).tools)).toEqual(["act", "other"]);
    expect(readExposure(app).tools["act"]).toHaveProperty("ui", { visibility: ["app"] });
    expect(app.replay().visible_tools).toEqual(["act", "other"]);
    const client = createTestClient(app);
    expect(await client.toolNames()).toEqual(["act", "other"]);
    expect(await client.tools.act()).toMatchObject({ value: "acted" });
    await client.close();
    expect(() =>
      cast(app.exactly.bind(app), { tools: { act: true }, mutating: { act: true }, resources: {} }).open(),
    ).toThrow("other");
  });
});
