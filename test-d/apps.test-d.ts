import { expectError, expectType } from "tsd";
import {
  defineSurface,
  mcp,
  mcpTool,
  procedure,
  skillsFolder,
  type Link,
  type MutatingToolNames,
  type ToolNames,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;

const html = "<p>";
const plain = procedure({ output: z.string() });
const app = mcp(
  defineSurface("s", {
    "cart.show": mcpTool(plain, { mutates: false, ui: { html, csp: { connectDomains: ["https://a.example"] } } }),
    // For pages alone: reachable all the same, so it counts.
    "cart.set": mcpTool(plain, { ui: { visibility: ["app"] } }),
    untagged: plain,
  }),
)
  .bridge(link)
  .expose({ untagged: { tool: { ui: { html: () => html, permissions: { camera: true } } } } })
  .tools({
    late: { ui: { html: async () => html }, handler: () => "" },
    file: { mutates: false, ui: { html: new URL("file:///page.html"), visibility: ["app"] }, handler: () => "" },
  });

// A view may hide skills, which are read from a folder at run time.
mcp(defineSurface("s", { act: mcpTool(plain) }), { skills: skillsFolder("./skills") })
  .bridge(link)
  .views({ few: { disallow: ["skills/deploy", "skills/*"] } });
expectError(mcp(defineSurface("s", {}), { skills: "./skills" }));
expectError(app.views({ few: { disallow: ["skill/deploy"] } }));

declare const tools: ToolNames<typeof app>;
expectType<"cart_show" | "cart_set" | "untagged" | "late" | "file">(tools);
declare const mutating: MutatingToolNames<typeof app>;
expectType<"cart_set" | "untagged" | "late">(mutating);

expectError(mcpTool(plain, { ui: { html: 1 } }));
expectError(mcpTool(plain, { ui: { html, visibility: ["user"] } }));
expectError(mcpTool(plain, { ui: { html, csp: { connectDomains: "https://a.example" } } }));
expectError(app.tools({ other: { ui: { html, border: true }, handler: () => "" } }));
expectError(app.tools({ other: { ui: html, handler: () => "" } }));
expectError(app.tools({ other: { ui: { visibility: ["user"] }, handler: () => "" } }));
