import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mcpAgentic } from "../../../src/builder/mcp-agentic.ts";
import type { AgenticService, Observe } from "../../../src/from/agentic/service-shape.ts";
import { agentKinds } from "../../scenarios/support/clients.ts";
import { serveForTest } from "../../scenarios/support/serve.ts";
import { compile, createWorkshop, emitDeclarations, type Workshop } from "../../types/compile.ts";
import { stage, act } from "./support.ts";

/** What the tests use of `@adobe/data`, whose own declarations need the library of a browser. */
interface RealPackage {
  readonly create: (config: object) => AgenticService;
  readonly createState: <TValue>(first: TValue) => readonly [Observe<TValue>, (value: TValue) => void];
  readonly createTypedBuffer: (schema: object, values: readonly unknown[]) => object;
}

async function load(): Promise<RealPackage> {
  const name = "@adobe/data";
  const [service, observe, buffer] = await Promise.all([
    import(`${name}/service`),
    import(`${name}/observe`),
    import(`${name}/typed-buffer`),
  ]);
  // Nothing is known of what is read here: the tests, which call it, fail where it is not so.
  return {
    create: service.AgenticService.create,
    createState: observe.Observe.createState,
    createTypedBuffer: buffer.createTypedBuffer,
  };
}

let real: RealPackage;
beforeAll(async () => {
  real = await load();
});

/** A hero of the real package, and a cat that he may meet. */
function createHero() {
  const [hp, setHp] = real.createState(5);
  const [alive, setAlive] = real.createState(true);
  const [friendly, setFriendly] = real.createState(false);
  const cat = real.create({
    interface: { pet: { type: "action", description: "Pets it", parameters: [] } },
    implementation: { pet: () => ({ purrs: true }) },
  });
  const hero = real.create({
    interface: {
      health: { type: "state", schema: { type: "number", precision: 1 }, description: "Health" },
      heal: { type: "action", description: "Heals", parameters: [{ type: "number", minimum: 1 }] },
      walk: { type: "action", description: "Walks", parameters: [{ type: "number" }, { type: "string" }] },
      die: { type: "action", description: "Dies", parameters: [] },
      cat: { type: "link", description: "A cat" },
    },
    implementation: {
      health: hp,
      heal: (by: number) => setHp(5 + by),
      walk: (steps: number, to: string) => ({ steps, to }),
      die: () => setAlive(false),
      cat,
    },
    conditional: { heal: alive, walk: alive, cat: friendly },
  });
  return { hero, setAlive, setFriendly, setHp };
}

describe.each(agentKinds)("a service of @adobe/data with $name", (kind) => {
  it("A1 has the tools, states and links that its conditions allow, and notifies of changes", async () => {
    const { hero, setFriendly } = createHero();
    const { enter } = await serveForTest(mcpAgentic(hero, { states: "resource", links: true }));
    const agent = await enter(kind);
    expect(await agent.tools()).toEqual(["die", "heal", "walk"]);
    let told = 0;
    let updated = 0;
    await agent.onTools(() => (told += 1));
    await agent.watch("surface://agentic-service/state/health", () => (updated += 1));

    expect(await agent.call("heal", { value: 3 })).toMatchObject({ content: [{ type: "text", text: "" }] });
    await expect.poll(() => updated).toBe(1);
    expect(await agent.read("surface://agentic-service/state/health")).toMatchObject({ contents: [{ text: "8" }] });
    expect(await agent.call("heal", { value: 0 })).toMatchObject({ isError: true });
    // Its own execute hands on one argument.
    expect(await agent.call("walk", { arg0: 2, arg1: "north" })).toMatchObject({
      structuredContent: { steps: 2, to: "north" },
    });

    setFriendly(true);
    await expect.poll(() => told).toBe(1);
    expect(await agent.tools()).toEqual(["cat_pet", "die", "heal", "walk"]);
    expect(await agent.call("cat_pet")).toMatchObject({ structuredContent: { purrs: true } });
    await agent.call("die");
    await expect.poll(() => told).toBe(2);
    expect(await agent.tools()).toEqual(["cat_pet", "die"]);
  });
});

/** A gallery of the real package, which holds the picture and the heights that were put there last. */
function createGallery() {
  const item = { type: "number", precision: 1 };
  const heights = { type: "typed-buffer", items: item };
  const picture = { type: "blob", mediaType: "image/png" };
  const [nowPicture, setPicture] = real.createState<unknown>(new Blob(["none"]));
  const [nowHeights, setHeights] = real.createState<unknown>(real.createTypedBuffer(item, [0.5, 2]));
  const given: unknown[] = [];
  const put = async (input: { readonly picture: Blob; readonly more: { readonly heights: Float32Array } }) => {
    given.push(input.picture.type, await input.picture.text(), input.more.heights);
    setPicture(input.picture);
    setHeights(real.createTypedBuffer(item, Array.from(input.more.heights)));
  };
  const more = { type: "object", properties: { heights }, required: ["heights"] };
  const input = { type: "object", properties: { picture, more, next: picture }, required: ["picture", "more"] };
  const gallery = real.create({
    interface: {
      picture: { type: "state", schema: picture },
      heights: { type: "state", schema: heights },
      put: { type: "action", description: "Puts both there", parameters: [input] },
    },
    implementation: { picture: nowPicture, heights: nowHeights, put },
  });
  return { gallery, given };
}

describe.each(agentKinds)("the bytes of a service of @adobe/data with $name", (kind) => {
  it("travel as base64, and are a Blob and an array to the service", async () => {
    const { gallery, given } = createGallery();
    const { enter } = await serveForTest(mcpAgentic(gallery, { states: "resource" }));
    const agent = await enter(kind);
    const textOf = async (state: string): Promise<unknown> => agent.read(`surface://agentic-service/state/${state}`);
    const base64 = (bytes: string | ArrayBuffer): string => Buffer.from(bytes as string).toString("base64");
    const contents = (text: string): object => ({ contents: [{ text: JSON.stringify(text) }] });
    expect(await textOf("picture")).toMatchObject(contents(base64("none")));
    expect(await textOf("heights")).toMatchObject(contents(base64(new Float32Array([0.5, 2]).buffer)));

    const heights = new Float32Array([1.5, -1, 3]);
    const more = { heights: base64(heights.buffer) };
    const refused = await agent.call("put", { picture: "no base64", more });
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.stringify(refused["content"])).toContain("- picture: expected base64");
    expect(given).toEqual([]);
    expect(await agent.call("put", { picture: base64("a cat"), more })).not.toMatchObject({ isError: true });
    expect(given).toStrictEqual(["image/png", "a cat", heights]);
    await expect.poll(() => textOf("picture")).toMatchObject(contents(base64("a cat")));
    expect(await textOf("heights")).toMatchObject(contents(more.heights));
  });
});

describe("a service of @adobe/data beside a hand-written one", () => {
  it("A22 is in the same app", async () => {
    const { hero } = createHero();
    const byHand = stage({ name: "hand", actions: { wave: act() } });
    const { enter } = await serveForTest(mcpAgentic([{ ...hero, serviceName: "hero" }, byHand.service]));
    const [kind] = agentKinds;
    expect(await (kind === undefined ? undefined : await enter(kind))?.tools()).toEqual([
      "hand_wave",
      "hero_die",
      "hero_heal",
      "hero_walk",
    ]);
  });
});

describe("the types of @adobe/data", () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = createWorkshop("agentic-types");
  });
  afterAll(() => workshop.remove());

  it("A1 and A2 accept a service without a cast", { timeout: 120_000 }, async () => {
    await emitDeclarations(workshop);
    workshop.write(
      "use.ts",
      `import { AgenticService } from "@adobe/data/service";
import { Observe } from "@adobe/data/observe";
import { agenticService, mcpAgentic, toJSONSchema, type AgenticService as Ours } from "./package/from/agentic/index.js";
export const real: AgenticService = AgenticService.create({
  interface: { hp: { type: "state", schema: { type: "number" } } },
  implementation: { hp: Observe.fromConstant(1) },
});
export const ours: Ours = real;
export const source = agenticService([real], { states: "resource" });
export const app = mcpAgentic(real, { links: true });
export const schema = toJSONSchema({ type: "number" });
// @ts-expect-error -- a service has to be able to carry out what it says
export const lame: Ours = { states: real.states, actions: real.actions };
`,
    );
    expect(compile(workshop, ["use.ts"])).toEqual([]);
  });
});
