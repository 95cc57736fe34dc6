import { assert, property, stringMatching } from "fast-check";
import { describe, expect, it } from "vitest";
import { nameWarning, toWireName } from "../../src/catalog/wire-name.ts";
import { SurfaceError } from "../../src/errors.ts";
import { thrownBy } from "./support.ts";

const origin = 'procedure "x"';

describe("toWireName()", () => {
  it("toWireName() makes dots to underscores and keeps case when the id is a member key", () => {
    expect(toWireName("node.reRun.ALL_2", { origin })).toBe("node_reRun_ALL_2");
  });

  it("toWireName() gives what model providers accept for every id that it takes", () => {
    assert(
      property(stringMatching(/^[A-Za-z0-9_.-]{1,80}$/), (id) => {
        const legal = !id.includes("-") && id.split(".").every((part) => part !== "") && id.length <= 64;
        const made = legal ? toWireName(id, { origin }) : thrownBy(() => toWireName(id, { origin }));
        const refused = made instanceof SurfaceError && made.code === "INVALID_NAME";
        expect(legal ? /^[A-Za-z0-9_]{1,64}$/.test(String(made)) : refused).toBe(true);
      }),
    );
  });

  it("toWireName() refuses a dash unless it is allowed", () => {
    expect(thrownBy(() => toWireName("a-b", { origin }))).toMatchObject({ code: "INVALID_NAME" });
    expect(toWireName("a-b", { origin, allowDash: true })).toBe("a-b");
  });

  it.each(["", "a b", "a/b", "ä", "a\n", "💥", ".", "..", ".a", "a.", "a..b", "x".repeat(65)])(
    "toWireName() refuses %j and says whose it is",
    (id) => {
      for (const allowDash of [true, false]) {
        expect(thrownBy(() => toWireName(id, { origin, allowDash }))).toMatchObject({
          code: "INVALID_NAME",
          message: expect.stringContaining(origin),
        });
      }
    },
  );

  it("toWireName() takes a name of exactly 64 characters", () => {
    expect(toWireName("x".repeat(64), { origin })).toHaveLength(64);
  });
});

describe("nameWarning()", () => {
  it("nameWarning() warns above 40 characters and not before", () => {
    expect(nameWarning("x".repeat(40), origin)).toBeUndefined();
    expect(nameWarning("x".repeat(41), origin)).toContain(origin);
  });

  it.each(["constructor", "toString", "__proto__"])("nameWarning() warns of %s, which every object has", (name) => {
    expect(nameWarning(name, origin)).toContain(`"${name}"`);
  });
});
