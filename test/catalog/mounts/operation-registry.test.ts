import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createInvoker } from "../../../src/call/create-invoker.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import type { MountedOperation } from "../../../src/catalog/mounts/mount.ts";
import { operationRegistry, type OperationRegistry } from "../../../src/catalog/mounts/operation-registry.ts";
import type { SurfaceError } from "../../../src/errors.ts";
import { context, mount, registryOf } from "./mount-support.ts";
import { thrownBy } from "../support.ts";

/** Read as a JSON Schema, it would take every value. */
const brokenSchema = { "~standard": { version: 1, vendor: "x", valdate: () => ({ issues: [] }) } };

describe("operationRegistry()", () => {
  it("register() refuses a name that is taken, also on the wire, and replaces only what has that very name", () => {
    const registry = registryOf("a.b");
    const add = (name: string, replace: boolean): unknown => {
      return thrownBy(() => void registry.register({ name }, () => "new", { replace }));
    };
    for (const [name, replace] of [
      ["a.b", false],
      ["a_b", false],
      ["a_b", true],
    ] as const) {
      expect(add(name, replace)).toMatchObject({
        code: "NAME_COLLISION",
        message: expect.stringContaining('taken by operation "a.b"'),
      });
    }
    expect(registry.invoke("a.b", undefined, context)).toBe("a.b");
    expect(add("a.b", true)).toBe("nothing was thrown");
    expect([registry.size, registry.invoke("a.b", undefined, context)]).toEqual([1, "new"]);
    registry.unregister("a.b");
    expect(add("a_b", false)).toBe("nothing was thrown");
  });

  it("leaves out and reports an operation that is invalid, and keeps the others, if asked to", () => {
    const reported: unknown[] = [];
    const nullable = {
      name: "bad",
      inputSchema: { type: "object", properties: { a: { type: "string", nullable: true } } },
    };
    const specs: readonly MountedOperation[] = [{ name: "a" }, nullable, { name: "a b" }, { name: "b" }];
    const listed = (registry: OperationRegistry): readonly string[] => registry.list().map(({ name }) => name);
    const onInvalid = (error: SurfaceError, operation: MountedOperation) =>
      void reported.push([error.code, operation.name, error.message.includes(operation.name)]);
    const initial = specs.map((spec) => [spec, () => 1] as const);
    const expected = [
      ["SCHEMA_UNSUPPORTED", "bad", true],
      ["INVALID_NAME", "a b", true],
    ];
    expect(listed(operationRegistry(initial, { onInvalid }))).toEqual(["a", "b"]);
    expect(reported.splice(0)).toEqual(expected);

    const registry = operationRegistry([], { onInvalid });
    let changes = 0;
    registry.subscribe(() => (changes += 1));
    const removes = specs.map((spec) => registry.register(spec, () => 1));
    expect([listed(registry), changes, reported.splice(0)]).toEqual([["a", "b"], 2, expected]);
    for (const remove of removes.slice(1, 3)) remove();
    registry.register({ name: "a" }, () => 2);
    expect([listed(registry), registry.invoke("a", undefined, context)]).toEqual([["a", "b"], 1]);
    expect(reported).toEqual([["NAME_COLLISION", "a", true]]);
  });

  it("throws what onInvalid throws, and does not report misspelt options and faults of getters to it", () => {
    const refuse = operationRegistry([], {
      onInvalid: (error) => {
        throw error;
      },
    });
    expect(thrownBy(() => refuse.register({ name: "a b" }, () => 1))).toMatchObject({ code: "INVALID_NAME" });
    const registry = operationRegistry([], { onInvalid: () => {} });
    // @ts-expect-error -- what data may hold
    expect(thrownBy(() => registry.register(null, () => 1))).toBe("nothing was thrown");
    expect(registry.size).toBe(0);
    const misspelt = { replaces: true } as object;
    expect(thrownBy(() => registry.register({ name: "a" }, () => 1, misspelt))).toMatchObject({
      code: "INVALID_OPTION",
    });
    const broken = {
      get name(): string {
        throw new TypeError("a fault");
      },
    };
    expect(thrownBy(() => registry.register(broken, () => 1))).toBeInstanceOf(TypeError);
    for (const options of [{ onInvalids: () => {} }, { onInvalid: "skip" }]) {
      // @ts-expect-error -- what a program without types may write
      expect(thrownBy(() => operationRegistry([], options))).toMatchObject({ code: "INVALID_OPTION" });
    }
  });

  it("register() returns what takes away its own and nothing that has taken its place", () => {
    const registry = operationRegistry();
    const first = registry.register({ name: "a" }, () => 1);
    const second = registry.register({ name: "a" }, () => 2, { replace: true });
    first();
    expect(registry.size).toBe(1);
    second();
    second();
    expect([registry.size, registry.unregister("a")]).toEqual([0, false]);
  });

  it.each<[string, object, string]>([
    ["a blank in its name", { name: "a b" }, "INVALID_NAME"],
    ["a name of nothing but dots", { name: ".." }, "INVALID_NAME"],
    ["a name too long", { name: "a".repeat(65) }, "INVALID_NAME"],
    ["no name", {}, "INVALID_OPTION"],
    ["an unknown key", { name: "a", scope: ["x"] }, "INVALID_OPTION"],
    ["an unknown type", { name: "a", type: "read" }, "INVALID_OPTION"],
    ["an unknown visibility", { name: "a", visibility: "hidden" }, "INVALID_OPTION"],
    ["a description that is no text", { name: "a", description: 1 }, "INVALID_OPTION"],
    ["tags with a hole", { name: "a", tags: Array(1) }, "INVALID_OPTION"],
    ["an empty pattern", { name: "a", canCall: [""] }, "INVALID_OPTION"],
    ["an authority that no token could carry", { name: "a", callScopes: ["a b"] }, "INVALID_OPTION"],
    ["scopes that no token could carry", { name: "a", scopes: ["a b"] }, "INVALID_OPTION"],
    ["a deadline out of range", { name: "a", timeoutMs: 0 }, "INVALID_OPTION"],
    ["a schema that is none", { name: "a", inputSchema: "string" }, "INVALID_OPTION"],
    ["an input whose ~standard is none", { name: "a", inputSchema: brokenSchema }, "INVALID_OPTION"],
    ["an output whose ~standard is none", { name: "a", outputSchema: brokenSchema }, "INVALID_OPTION"],
    ["details whose ~standard is none", { name: "a", errorSchemas: { BUSY: brokenSchema } }, "INVALID_OPTION"],
    ["details without a schema", { name: "a", errorSchemas: { BUSY: true } }, "INVALID_OPTION"],
    ["a query that destroys", { name: "a", type: "query", destructive: true }, "CONTRADICTION"],
    ["an input that nobody could hold", { name: "a", inputSchema: { unevaluatedItems: false } }, "SCHEMA_UNSUPPORTED"],
    ["an output that nobody could hold", { name: "a", outputSchema: { type: "text" } }, "SCHEMA_UNSUPPORTED"],
  ])("register() refuses %s at once, and nothing has changed", (...row) => {
    const [, operation, code] = row;
    const registry = operationRegistry();
    let told = 0;
    registry.subscribe(() => void (told += 1));
    // For authors who cast.
    const add = (): unknown => registry.register(operation as MountedOperation, () => 1);
    expect(thrownBy(add)).toMatchObject({ code });
    expect([registry.size, registry.list(), told]).toEqual([0, [], 0]);
  });

  it("register() refuses what nothing carries out", () => {
    const registry = operationRegistry();
    // For authors who cast.
    const handler = "run" as unknown as () => void;
    expect(thrownBy(() => registry.register({ name: "a" }, handler))).toMatchObject({ code: "MISSING_HANDLER" });
  });

  it("register() keeps what was looked at, whatever its author does to theirs afterwards", () => {
    const registry = operationRegistry();
    const operation = { name: "a", description: "before" };
    registry.register(operation, () => 1);
    operation.description = "after";
    expect(registry.list()).toEqual([{ name: "a", description: "before" }]);
    expect(registry.list()).toBe(registry.list());
  });

  it("register() keeps lists as they were looked at, and reads each word once", () => {
    const registry = operationRegistry();
    const [scopes, scopesAny, tags, canCall, callScopes] = [["admin"], ["a", "b"], ["t"], ["hub.*"], ["w"]];
    const resource = { type: "repo", action: "write" };
    const lists = { scopes, scopesAny, tags, canCall, callScopes };
    registry.register({ name: "a", ...lists, resource }, () => 1);
    const kept = structuredClone({ ...lists, resource });
    for (const list of Object.values(lists)) list.length = 0;
    Object.assign(resource, { type: "other", action: "read" });
    expect(registry.list()).toEqual([{ name: "a", ...kept }]);
    let reads = 0;
    const changing = {
      name: "b",
      get scopes(): string[] {
        reads += 1;
        return reads === 1 ? ["admin"] : [];
      },
    };
    registry.register(changing, () => 1);
    const { live } = mount({ hub: registry });
    expect(live.current.toolOf("hub.a")?.requires).toMatchObject({ scopes: kept.scopes, resource: kept.resource });
    expect([live.current.toolOf("hub.b")?.requires?.scopes, reads]).toEqual([["admin"], 1]);
  });

  it("invoke() refuses what is not there, and hands a handler what its schema makes of the input", async () => {
    const registry = operationRegistry();
    expect(thrownBy(() => registry.invoke("none", {}, context))).toMatchObject({ code: "OPERATION_NOT_FOUND" });
    const inputSchema = z.object({ n: z.number().default(3) });
    registry.register({ name: "twice", inputSchema, outputSchema: z.number() }, ({ n }) => n * 2);
    const { live } = mount({ hub: registry });
    const entry = live.current.toolOf("hub.twice");
    const invoker = createInvoker({ report: () => {} });
    if (entry === undefined) throw new TypeError("it is listed");
    expect(await invoker.call(entry, {}, new CallContext({}))).toEqual({ kind: "answer", text: '{"value":6}' });
    expect(await invoker.call(entry, { n: "x" }, new CallContext({}))).toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: "n" }],
    });
    invoker.close();
  });

  it("a registry holds what a map would when operations come, go and take each other's places", () => {
    const step: fc.Arbitrary<Step> = fc.record({
      kind: fc.constantFrom<Step["kind"][]>("register", "replace", "unregister", "undo", "look"),
      name: fc.constantFrom("a", "a.b", "a_b", "c.d.e", "c_d.e"),
    });
    fc.assert(fc.property(fc.array(step, { maxLength: 40 }), holdsTo), { numRuns: 300 });
  });
});

interface Step {
  readonly kind: "register" | "replace" | "unregister" | "undo" | "look";
  readonly name: string;
}

/** A registry and a map, to which the same is done. */
class Pair {
  readonly registry = operationRegistry();
  readonly mounted = mount({ hub: this.registry });
  readonly model = new Map<string, number>();
  #last: { readonly made: number; readonly undo: () => void } | undefined;

  /** Whether both did the same. */
  step({ kind, name }: Step, made: number): boolean {
    switch (kind) {
      case "unregister":
        return this.registry.unregister(name) === this.model.delete(name);
      case "undo":
        return this.#undo();
      case "look":
        return this.#showsAll();
      default:
        return this.#register({ name, made, replace: kind === "replace" });
    }
  }

  #undo(): boolean {
    const last = this.#last;
    last?.undo();
    for (const [name] of [...this.model].filter(([, known]) => known === last?.made)) this.model.delete(name);
    return true;
  }

  #register({ name, made, replace }: { name: string; made: number; replace: boolean }): boolean {
    const onWire = (other: string): string => other.replaceAll(".", "_");
    const twin = [...this.model.keys()].find((other) => onWire(other) === onWire(name));
    const mayTake = twin === undefined || (replace && twin === name);
    const thrown = thrownBy(() => {
      this.#last = { made, undo: this.registry.register({ name }, () => made, { replace }) };
    });
    if (mayTake) this.model.set(name, made);
    return (thrown === "nothing was thrown") === mayTake;
  }

  #showsAll(): boolean {
    const shown = this.mounted.live.current.tools.map(({ id }) => id).filter((id) => id !== "own");
    const known = Array.from(this.model.keys(), (name) => `hub.${name}`);
    return shown.toSorted().join(" ") === known.toSorted().join(" ");
  }
}

/** Does the same to a registry and to a map, and compares them after each step. */
function holdsTo(steps: readonly Step[]): void {
  const pair = new Pair();
  for (const [made, step] of steps.entries()) {
    expect(pair.step(step, made)).toBe(true);
    for (const [name, known] of pair.model) expect(pair.registry.invoke(name, undefined, context)).toBe(known);
    expect(pair.registry.size).toBe(pair.model.size);
  }
  expect(pair.mounted.live.current.tools.length).toBe(pair.model.size + 1);
  expect(pair.mounted.faults).toEqual([]);
}
