import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { http } from "../../../src/http/index.ts";
import { defineSurface, mcp, mcpTool, procedure, readOnly, type ViewRule } from "../../../src/index.ts";
import { modernPost } from "../support/modern-post.ts";

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const input = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) });

const surface = defineSurface("ci", {
  deploy: mcpTool(procedure({ input, output: z.string() })),
  scoped: mcpTool(procedure({ input, output: z.string() }), { scopes: ["ci:admin"] }),
  owned: mcpTool(procedure({ input, output: z.string() }), { resource: { type: "vault", action: "write" } }),
  open: readOnly(mcpTool(procedure({ output: z.string() }))),
});

async function serve(rules: readonly ViewRule[]): Promise<string> {
  const app = mcp(surface, { onFault: () => {} })
    .implement({ deploy: () => "d", scoped: () => "s", owned: () => "o", open: () => "o" })
    .views(rules);
  const serving = await http({ port: 0, exit: false, drainMs: 0 }).serve(app);
  ending.push(() => serving.close());
  return serving.url;
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

async function call(url: string, name: string): Promise<Answered> {
  const answer = await fetch(url, modernPost("tools/call", { name, arguments: { region: "eu" } }));
  return { status: answer.status, text: (await answer.text()).replaceAll(name, "…") };
}

describe("a tool whose arguments are told in headers", () => {
  it.each(["scoped", "owned"])(
    "is as one that does not exist when its caller can never have what %s takes",
    async (name) => {
      const url = await serve([{ verdict: { kind: "tool_surface" } }]);
      expect(await call(url, name)).toEqual(await call(url, "nosuch"));
      expect((await call(url, "deploy")).status).toBe(400);
    },
  );
});
