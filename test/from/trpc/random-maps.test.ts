import { initTRPC } from "@trpc/server";
import { assert as check, asyncProperty, constantFrom, property, record, tuple, type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcpTrpc } from "../../../src/builder/mcp-trpc.ts";
import type { TrpcRouter } from "../../../src/from/trpc/trpc-types.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";

const t = initTRPC.create();
const kinds = {
  query: t.procedure.query(() => 1),
  "query with input": t.procedure.input(z.object({ id: z.string() })).query(() => 1),
  mutation: t.procedure.mutation(() => 1),
  subscription: t.procedure.subscription(async function* () {
    yield 1;
  }),
};

/** A procedure of some kind, or none, and its value in the map. */
type Choice = readonly [kind: keyof typeof kinds | "none", value: unknown];

const choices: Arbitrary<Choice> = tuple(
  constantFrom("query", "query with input", "mutation", "subscription", "none"),
  constantFrom("tool", "resource", { tool: { title: "A" } }, { resource: { title: "A" } }, undefined),
);

function isResource([, value]: Choice): boolean {
  return value !== undefined && JSON.stringify(value).includes("resource");
}

function fits(choice: Choice): boolean {
  const [kind, value] = choice;
  if (kind === "none") return value === undefined;
  return !isResource(choice) || kind === "query" || kind === "subscription";
}

const paths = ["a", "b", "constructor", "x.a", "x.b", "x.y.a", "z.a"];
const fitting = record(Object.fromEntries(paths.map((path) => [path, choices.filter(fits)])));
const misfits = choices.filter((choice) => !fits(choice));

/** Creates a router with the procedures below a path. */
function createRouter(chosen: Readonly<Record<string, Choice>>, before = ""): ReturnType<typeof t.router> {
  const made = Object.entries(chosen).filter(([path, [kind]]) => kind !== "none" && path.startsWith(before));
  const names = new Set(made.map(([path]) => path.slice(before.length).split(".")[0] ?? ""));
  const members = Array.from(names, (name) => {
    const [kind = "none"] = chosen[before + name] ?? [];
    return [name, kind === "none" ? createRouter(chosen, `${before}${name}.`) : kinds[kind]] as const;
  });
  return t.router(Object.fromEntries(members));
}

function createApp(chosen: Readonly<Record<string, Choice>>) {
  // The compiler knows neither the paths nor the values, and would refuse the map.
  const router: TrpcRouter = createRouter(chosen);
  const map = Object.fromEntries(Object.entries(chosen).map(([path, [, value]]) => [path, value]));
  return mcpTrpc(router, map as never, { context: () => ({}) });
}

describe("a random router of tRPC", () => {
  it("lists exactly the procedures of its map, each by its kind", async () => {
    await check(
      asyncProperty(fitting, async (chosen) => {
        const client = createTestClient(createApp(chosen));
        const tools = await client.listTools();
        const { resources } = await client.request("resources/list");
        await client.close();
        const exposed = Object.entries(chosen).filter(([, [, value]]) => value !== undefined);
        const asTools = exposed.filter(([, choice]) => !isResource(choice));
        const wireNames = (of: typeof exposed): string[] => of.map(([path]) => path.replaceAll(".", "_")).toSorted();
        expect(tools.map(({ name }) => name)).toEqual(wireNames(asTools));
        const mutating = tools.filter(({ annotations }) => Object(annotations)["readOnlyHint"] !== true);
        expect(mutating.map(({ name }) => name)).toEqual(
          wireNames(asTools.filter(([, [kind]]) => kind === "mutation")),
        );
        const uris = [resources].flat().map((resource) => Reflect.get(Object(resource), "uri"));
        const asResources = exposed.filter(([, choice]) => isResource(choice)).map(([path]) => path);
        expect(uris).toEqual(asResources.toSorted().map((path) => `surface://trpc/${path}`));
      }),
      { numRuns: 200 },
    );
  });

  it("refuses a map with one value that does not fit", () => {
    check(
      property(fitting, constantFrom(...paths), misfits, (chosen, path, misfit) => {
        const code = misfit[0] === "none" ? "UNKNOWN_MEMBER" : "WRONG_KIND";
        expect(() => createApp({ ...chosen, [path]: misfit })).toThrow(expect.objectContaining({ code }));
      }),
      { numRuns: 200 },
    );
  });
});
