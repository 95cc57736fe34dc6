import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface, memberOf } from "../../src/surface/define-surface.ts";
import { failure } from "./support.ts";

const invalid = (text: string): unknown => failure("INVALID_MEMBER", text);

describe("members", () => {
  it("each definition keeps its texts and its kind, and is frozen", () => {
    const words = { title: "T", description: "D" };
    const all = [
      cell({ ...words, schema: z.number(), default: 1 }),
      collection({ ...words, key: z.string(), schema: z.number() }),
      stream({ ...words, output: z.number() }),
      event({ ...words, output: z.number(), replayLast: true }),
      procedure({ ...words, errors: { NO: undefined, BAD: z.string() } }),
    ];
    expect(all.map((member) => member.kind)).toEqual(["cell", "collection", "stream", "event", "procedure"]);
    for (const member of all) {
      expect(member).toMatchObject(words);
      expect(Object.isFrozen(member)).toBe(true);
    }
    expect(Object.keys(stream({ output: z.number() }))).not.toContain("title");
  });

  it("an option that must be a schema is refused by name", () => {
    expect(() => cell({ schema: 5 as never })).toThrow(invalid('"schema"'));
    expect(() => collection({ key: 5 as never, schema: z.string() })).toThrow(invalid('"key"'));
    expect(() => collection({ key: z.string(), schema: 5 as never })).toThrow(invalid('"schema"'));
    expect(() => stream({ input: 5 as never, output: z.string() })).toThrow(invalid('"input"'));
    expect(() => event({ output: undefined as never })).toThrow(invalid('"output"'));
    expect(() => procedure({ output: 5 as never })).toThrow(invalid('"output"'));
    expect(() => procedure({ progress: {} as never })).toThrow(invalid('"progress"'));
    expect(() => procedure({ errors: { NO: "x" as never } })).toThrow(invalid('"errors.NO"'));
  });
});

describe("defineSurface()", () => {
  it.each(["", "1a", "a.b", "a b", "ä", "a".repeat(65)])("defineSurface() refuses the name %j", (name) => {
    expect(() => defineSurface(name, {})).toThrow(failure("INVALID_NAME"));
  });

  it.each(["", "__proto__", "_a", "a..b", ".a", "a.", "a-b", "a/b", "a".repeat(129)])(
    "defineSurface() refuses the key %j",
    (key) => {
      const members = Object.fromEntries([[key, procedure({})]]);
      expect(() => defineSurface("s", members as never)).toThrow(failure("INVALID_NAME"));
    },
  );

  it("defineSurface() refuses a value that is not a member, and keeps a copy", () => {
    for (const member of [undefined, null, 5, {}, { kind: "cell" }, { ...procedure({}), kind: "other" }]) {
      expect(() => defineSurface("s", { a: member } as never)).toThrow(invalid('"a"'));
    }
    const members = { a: procedure({}) };
    const surface = defineSurface("s", members);
    expect(surface.members).not.toBe(members);
    expect(Object.isFrozen(surface.members)).toBe(true);
  });

  it("memberOf() finds own keys only", () => {
    const surface = defineSurface("s", { a: procedure({}) });
    expect(memberOf(surface, "a")?.kind).toBe("procedure");
    for (const key of ["toString", "constructor", "__proto__"]) expect(memberOf(surface, key as "a")).toBeUndefined();
  });
});
