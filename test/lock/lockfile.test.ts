import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compareExposures } from "../../src/lock/compare-exposures.ts";
import { parseLockfile, toLockfileText } from "../../src/lock/lockfile.ts";
import { readExposure } from "../../src/lock/read-exposure.ts";
import { canonicalText, type JsonObject } from "../../src/schema/json.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { root } from "../architecture/source.ts";
import { goldenDifferences } from "./golden-differences.ts";
import { appOf, exposureOf, type Sample } from "./support.ts";

const sample: Sample = {
  members: { act: mcpTool(procedure({ input: z.object({ a: z.string() }), description: "Do it." })) },
};
const locked = toLockfileText(exposureOf(sample));

/** The lockfile with other content, and the digest of that content. */
function forge(change: (content: Record<string, unknown>) => object): string {
  // An object.
  const { digest: _digest, $schema, ...content } = JSON.parse(locked) as Record<string, unknown>;
  const forged = change(content);
  const digest = `sha256:${createHash("sha256")
    .update(canonicalText(forged as JsonObject))
    .digest("hex")}`;
  return JSON.stringify({ $schema, ...forged, digest });
}

describe("parseLockfile()", () => {
  it.each<[what: string, text: string]>([
    ["as it was written", locked],
    ["with the line ends of Windows", locked.replaceAll("\n", "\r\n")],
    ["by another formatter", JSON.stringify(JSON.parse(locked), null, "\t")],
  ])("reads a lockfile %s", (_what, text) => {
    expect(parseLockfile(text)).toEqual(exposureOf(sample));
  });

  it.each<[what: string, text: string, problem: string]>([
    ["an empty file", "", "it is not JSON"],
    ["half a file", locked.slice(0, -20), "it is not JSON"],
    ["a list", "[]", "it must be an object"],
    ["a text", '"x"', "it must be an object"],
    ["an edited description", locked.replace("Do it.", "Do all of it."), "it was changed after it was written"],
    ["an edited digest", locked.replace("sha256:", "sha256:0"), "it was changed after it was written"],
    ["no digest", locked.replace(/ {2}"digest".*\n/, ""), "it was changed after it was written"],
    ["a key that stands twice", locked.replace('"act": {', '"act": {},\n"act": {'), "it was changed after"],
    ["a field more", locked.replace('"mounts": {}', '"mounts": {}, "more": 1'), "it was changed after it was written"],
    ["a newer format", forge((content) => ({ ...content, formatVersion: 2 })), "a newer version of surface-mcp"],
    ["an older format", forge((content) => ({ ...content, formatVersion: 0 })), "its format is unknown"],
    ["a format that is no number", forge((content) => ({ ...content, formatVersion: "1" })), "its format is unknown"],
    ["a section that is missing", forge(({ tools: _tools, ...content }) => content), 'its "tools" must be'],
    ["a section that is a list", forge((content) => ({ ...content, views: [] })), 'its "views" must be'],
    ["a record that is a text", forge((content) => ({ ...content, tools: { act: "x" } })), 'its "tools" must be'],
    ["100,000 levels", "[".repeat(100_000), "it has more than 512 levels"],
    ["more than 32 MiB", " ".repeat(33_554_433), "it has more than 33554432 characters"],
    [
      "the markers of a merge conflict",
      `<<<<<<< HEAD\n${locked}=======\n${locked}>>>>>>> other\n`,
      "it has the markers of a merge conflict",
    ],
  ])("refuses %s with a sentence", (_what, text, problem) => {
    expect(() => parseLockfile(text)).toThrow(problem);
  });

  it.each<[what: string, tool: unknown]>([
    ["fields of other types", { id: 1, scopes: "x", hints: 3, input: [], output: true, confirm: null, views: {} }],
    ["no fields", {}],
    [
      "an endless input",
      { input: { type: "object", properties: { a: { anyOf: [{}, []], items: 3 } }, required: "a" } },
    ],
    ["unknown fields", { ["__proto__"]: { constructor: 1 }, toString: 1 }],
  ])("lets a comparison find differences in %s, and never throw", (_what, tool) => {
    const before = parseLockfile(forge((content) => ({ ...content, tools: { act: tool } })));
    expect(compareExposures(before, exposureOf(sample)).length).toBeGreaterThan(0);
    expect(compareExposures(exposureOf(sample), before).length).toBeGreaterThan(0);
  });
});

describe("toLockfileText()", () => {
  it("writes one field a line, and a line end at the end", () => {
    expect(locked.endsWith("}\n")).toBe(true);
    expect(locked.split("\n").filter((line) => (line.match(/": /g) ?? []).length > 1)).toEqual([]);
  });

  it("fits the published schema, whose fields are all there are, whichever app it is of", () => {
    // An object.
    const schema = JSON.parse(readFileSync(join(root, "docs/schemas/exposure-lock.schema.json"), "utf8")) as object;
    const fits = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);
    for (const [what, ...samples] of goldenDifferences) {
      for (const each of samples.slice(0, 2)) {
        // The lines of the differences follow behind the two samples.
        fits(JSON.parse(toLockfileText(exposureOf(each as Sample))));
        expect({ what, errors: fits.errors ?? [] }).toEqual({ what, errors: [] });
      }
    }
  });

  it("locks and compares a thousand tools before a person loses patience", { timeout: 20_000 }, () => {
    const schema = z.object({
      id: z.number().int(),
      text: z.string().max(100),
      tags: z.array(z.enum(["a", "b", "c"])),
    });
    const act = mcpTool(procedure({ input: schema, output: schema, description: "Change a record." }));
    const members = Object.fromEntries(Array.from({ length: 1000 }, (_none, index) => [`part.act${index}`, act]));
    const app = appOf({ members });
    const text = toLockfileText(readExposure(app));
    expect(compareExposures(parseLockfile(text), readExposure(app))).toEqual([]);
  });
});

describe("readExposure()", () => {
  it.each<[what: string, app: unknown, problem: string]>([
    ["a value that is no app", {}, "it is not an app"],
    ["nothing", undefined, "it is not an app"],
    [
      "a mount that cannot be listed",
      appOf({
        mounts: {
          hub: {
            list: () => {
              throw new Error("the hub is away");
            },
            subscribe: () => () => {},
            invoke: () => undefined,
          },
        },
      }),
      "the hub is away",
    ],
    [
      "a mounted operation that is not valid",
      appOf({ mounts: { hub: { list: () => [{ name: "?" }], subscribe: () => () => {}, invoke: () => undefined } } }),
      "mount",
    ],
    [
      "view rules that cannot be read",
      // A source of rules.
      appOf({ views: { get: () => 3, subscribe: () => () => {} } as never }),
      "view rules",
    ],
  ])("refuses %s", (_what, app, problem) => {
    expect(() => readExposure(app)).toThrow(problem);
  });
});
