import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { AppNames } from "../../src/builder/app-names.ts";
import type { LinkedApp } from "../../src/builder/stages.ts";
import { SurfaceError } from "../../src/errors.ts";
import type { Spec } from "../../src/surface/member.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { root } from "../architecture/source.ts";
import { compile, createWorkshop, emitDeclarations, type Diagnostic, type Workshop } from "./compile.ts";
import { randomApps, type RandomApp } from "./random-apps.ts";

/** What a client is told that an agent may reach. */
interface Reachable {
  readonly tools: readonly string[];
  readonly mutating: readonly string[];
  readonly resources: readonly string[];
  readonly prompts: readonly string[];
}

/** What became of one app at run time: what is reachable, or the error of a boot that failed. */
type Outcome = { readonly reachable: Reachable } | { readonly error: unknown };

type AnyApp = LinkedApp<AppNames, Spec>;

const apps = randomApps(300);
const names = `
  cell, cellSource, collection, composeSurfaces, defineSurface, event, mcp, mcpResource, mcpTool, procedure, readOnly,
  stream, type Link, type MountSource, type MutatingToolNames, type ResourceNames, type ToolNames, type ViewRules,
`;

let workshop: Workshop;
let outcomes: readonly Outcome[];
let refused: ReadonlyMap<string, readonly Diagnostic[]>;

function setting(from: string): string {
  return `import { z } from "zod";
import {${names}} from "${from}";
const link: Link = { connect: () => Promise.reject(new Error("not reached")) };
const source: MountSource = {
  list: () => [{ name: "status", type: "query" }, { name: "branch.delete" }],
  subscribe: () => () => {},
  invoke: () => null,
};
export type Used = ViewRules;
export const used = [z, link, source, cell, cellSource, collection, composeSurfaces, defineSurface, event, mcp, mcpResource, mcpTool, procedure, readOnly, stream];
`;
}

// The parameters are what the compiler knows least about.
function makerOf(app: RandomApp): string {
  return `(either: boolean, unchecked: any) => {\n  void [either, unchecked];\n${app.body}\n}`;
}

function unionOf(all: readonly string[]): string {
  return all.length === 0 ? "never" : all.map((name) => JSON.stringify(name)).join(" | ");
}

/** Asserts, of one app, that its types know every name that it answers with, and no other where they can. */
function checkOf(index: number, isExact: boolean, reachable: Reachable): string {
  const assertion = isExact ? "same" : "covers";
  return `import type { MutatingToolNames, PromptNames, ResourceNames, ToolNames } from "surface-mcp";
import type { make } from "./app-${index}.ts";
type App = ReturnType<typeof make>;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : [differs: [A, B]];
type Covers<A, B> = [B] extends [A] ? [] : [isMissing: Exclude<B, A>];
export declare function same<A, B>(...differs: Same<A, B>): void;
export declare function covers<A, B>(...differs: Covers<A, B>): void;
${assertion}<ToolNames<App>, ${unionOf(reachable.tools)}>();
${assertion}<MutatingToolNames<App>, ${unionOf(reachable.mutating)}>();
${assertion}<ResourceNames<App>, ${unionOf(reachable.resources)}>();
${assertion}<PromptNames<App>, ${unionOf(reachable.prompts)}>();
`;
}

async function listAll(app: AnyApp): Promise<Reachable> {
  const client = createTestClient(app);
  try {
    const list = async (method: Parameters<typeof client.request>[0], key: string): Promise<readonly object[]> => {
      const found: unknown = (await client.request(method))[key];
      return Array.isArray(found) ? found : [];
    };
    const tools = await list("tools/list", "tools");
    const resources = [
      ...(await list("resources/list", "resources")),
      ...(await list("resources/templates/list", "resourceTemplates")),
    ];
    const nameOf = (entry: object): string => String(Reflect.get(entry, "name"));
    const changes = (tool: object): boolean => Reflect.get(Reflect.get(tool, "annotations"), "readOnlyHint") !== true;
    return {
      tools: tools.map(nameOf),
      mutating: tools.filter(changes).map(nameOf),
      resources: [...new Set(resources.map(nameOf))],
      // An app without prompts does not know the method.
      prompts: (await list("prompts/list", "prompts").catch(() => [])).map(nameOf),
    };
  } finally {
    await client.close();
  }
}

/** Runs every app. What is left open is true for one half of them, and false for the other. */
async function runAll(): Promise<readonly Outcome[]> {
  const makers = apps.map((app) => `  ${makerOf(app)},`).join("\n");
  workshop.write("run.ts", `${setting(join(root, "src", "index.ts"))}export const makers = [\n${makers}\n];\n`);
  const loaded: unknown = await import(pathToFileURL(join(workshop.folder, "run.ts")).href);
  // The module was written above, and exports this.
  const run = loaded as { readonly makers: readonly ((either: boolean, unchecked: unknown) => AnyApp)[] };
  return Promise.all(
    run.makers.map(async (make, index) => {
      try {
        return { reachable: await listAll(make(index % 2 === 0, index % 2 === 0)) };
      } catch (error) {
        return { error };
      }
    }),
  );
}

function grouped(all: readonly Diagnostic[]): ReadonlyMap<string, readonly Diagnostic[]> {
  const groups = new Map<string, Diagnostic[]>();
  for (const diagnostic of all) {
    const group = groups.get(diagnostic.file) ?? [];
    group.push(diagnostic);
    groups.set(diagnostic.file, group);
  }
  return groups;
}

const problems = (file: string): readonly string[] => (refused.get(file) ?? []).map(({ message }) => message);
const booted = (index: number): boolean => "reachable" in (outcomes[index] ?? {});

/** Where the answer was not as it should be, with the source that led there. */
function disagreements(is: (index: number, app: RandomApp) => string | undefined): readonly string[] {
  return apps.flatMap((app, index) => {
    const found = is(index, app);
    return found === undefined ? [] : [`${found}\n${app.body}`];
  });
}

describe("types and run time, over random apps", () => {
  beforeAll(async () => {
    workshop = createWorkshop("random");
    await emitDeclarations(workshop);
    for (const [index, app] of apps.entries()) {
      workshop.write(`app-${index}.ts`, `${setting("surface-mcp")}export const make = ${makerOf(app)};\n`);
    }
    // Some of the names are ones that the package warns about.
    const warned = vi.spyOn(console, "error").mockReturnValue();
    outcomes = await runAll();
    warned.mockRestore();
    for (const [index, outcome] of outcomes.entries()) {
      const { literal = false, exact = false } = apps[index] ?? {};
      if (!("reachable" in outcome)) continue;
      workshop.write(`check-${index}.ts`, checkOf(index, literal && exact, outcome.reachable));
    }
    refused = grouped(compile(workshop, ["app-*.ts", "check-*.ts"]));
  }, 180_000);

  afterAll(() => workshop.remove());

  it("the apps are right often enough, and wrong often enough, to mean something", () => {
    const right = apps.filter((_app, index) => booted(index)).length;
    const listed = outcomes.flatMap((outcome) => ("reachable" in outcome ? outcome.reachable.tools : []));
    expect(right).toBeGreaterThan(apps.length / 4);
    expect(apps.length - right).toBeGreaterThan(apps.length / 10);
    expect(listed.length).toBeGreaterThan(apps.length);
    const reachable = outcomes.flatMap((outcome) => ("reachable" in outcome ? [outcome.reachable] : []));
    const byHand = ["page", "notes.all", "valueOf"];
    expect(reachable.filter(({ prompts }) => prompts.length > 0).length).toBeGreaterThan(apps.length / 20);
    expect(reachable.filter(({ resources }) => byHand.some((name) => resources.includes(name))).length).toBeGreaterThan(
      apps.length / 20,
    );
  });

  it("every name that tools/list and the resource lists answer is in the types, and no other where all is literal and listed", () => {
    expect(
      disagreements((index) => {
        const found = booted(index) && problems(`app-${index}.ts`).length === 0 ? problems(`check-${index}.ts`) : [];
        return found.length === 0 ? undefined : found.join("\n");
      }),
    ).toEqual([]);
  });

  it("an app boots when it compiles, if all of it is literal", () => {
    expect(
      disagreements((index, { literal }) => {
        const outcome = outcomes[index];
        if (!literal || problems(`app-${index}.ts`).length > 0) return undefined;
        return outcome !== undefined && "error" in outcome ? String(outcome.error) : undefined;
      }),
    ).toEqual([]);
  });

  it("an app that the compiler refuses does not boot, if all of it is literal", () => {
    expect(
      disagreements((index, { literal }) => {
        const found = problems(`app-${index}.ts`);
        return literal && found.length > 0 && booted(index) ? found.join("\n") : undefined;
      }),
    ).toEqual([]);
  });

  it("a boot that fails says so with an error of the package", () => {
    expect(
      disagreements((index) => {
        const outcome = outcomes[index];
        if (outcome === undefined || !("error" in outcome) || outcome.error instanceof SurfaceError) return undefined;
        return `not a SurfaceError: ${String(outcome.error)}`;
      }),
    ).toEqual([]);
  });
});
