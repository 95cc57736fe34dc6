import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Caller } from "../../src/surface/caller.ts";
import type { ViewRule } from "../../src/index.ts";
import { createTestClient, RpcFailure } from "../../src/testing/index.ts";
import { createViewsApp } from "./views-app.ts";

const pattern = fc.constantFrom(
  "*",
  "node.*",
  "n?te",
  "ops_*",
  "read_resource",
  "big",
  "status",
  "plan",

  "*_git_*",
);
const patterns = fc.array(pattern, { maxLength: 3 });
const verdict = fc.oneof(
  fc.record({
    kind: fc.constant("tool_surface" as const),
    allow: patterns,
    disallow: patterns,
    readOnly: fc.boolean(),
    face: fc.constantFrom("direct" as const, "gateway" as const),
  }),
  fc.record({ kind: fc.constant("deny" as const), reason: fc.constant("no") }),
);
const surface = fc.constantFrom("default", "a", "b");
const rule: fc.Arbitrary<ViewRule> = fc.record({
  when: fc.oneof(fc.constant({}), fc.record({ surface }), fc.record({ surface, project: fc.constant("p") })),
  verdict,
});
const scopes = fc.subarray(["ci:read", "ci:write", "extra"]);
const caller: fc.Arbitrary<Caller> = fc.record({ id: fc.constant("ann"), isAnonymous: fc.boolean(), scopes });

it("a replay shows exactly the listed entries for any rules, callers and views", async () => {
  const views = createViewsApp();
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 4 }), surface, caller, async (rules, by, who) => {
      views.rules.set(rules);
      const replay = views.app.replay({ surface: by, project: "p", caller: who });
      const client = createTestClient(views.app, { view: by, project: "p", caller: who });
      const names = async (method: "resources/list" | "resources/templates/list", key: string): Promise<string[]> => {
        const listed = (await client.request(method))[key];
        return Array.isArray(listed) ? listed.map((each) => String(Object(each).name)) : [];
      };
      const listAll = async (): Promise<object> => {
        const resources = [
          ...(await names("resources/list", "resources")),
          ...(await names("resources/templates/list", "resourceTemplates")),
        ];
        return { kind: "tool_surface", tools: await client.toolNames(), resources: [...new Set(resources)].toSorted() };
      };
      const listed = await listAll().catch((cause: unknown) => {
        if (cause instanceof RpcFailure) return { kind: "deny", tools: [], resources: [] };
        throw cause;
      });
      await client.close();
      const { verdict: decided, visible_tools: tools, visible_resources: resources } = replay;
      expect({ kind: decided.kind, tools, resources }).toEqual(listed);
    }),
    { numRuns: 100 },
  );
});
