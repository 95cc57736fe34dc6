import { describe, expect, it } from "vitest";
import { toAreaPath, toLinePath, toNiceMaximum, toSlots } from "../../page/charts/paths.ts";
import { toBytes, toCount, toDuration, toSpan } from "../../page/text/format.ts";
import { formatJson, toJsonTokens } from "../../page/text/json-tokens.ts";
import { clip, toLabel, toPieces } from "../../page/text/visible.ts";

describe("visible text", () => {
  it.each([
    ["a control character", "a\u0007b", "a\\u0007b"],
    ["an ANSI escape", "\u001b[31mred", "\\u001b[31mred"],
    ["a change of direction", "user\u202Etxt.exe", "user\\u202etxt.exe"],
    ["an isolate", "\u2066a\u2069", "\\u2066a\\u2069"],
    ["zero width", "ad\u200Bmin\uFEFF", "ad\\u200bmin\\ufeff"],
    ["a tag character", "x\u{E0041}", "x\\udb40\\udc41"],
    ["a lone surrogate", "a\uD800b", "a\\ud800b"],
    ["a line end and a tab", "a\r\nb\tc", "a\\r\\nb\\tc"],
    ["a line separator", "a\u2028b", "a\\u2028b"],
    ["a letter that looks like nothing", "a\u3164b", "a\\u3164b"],
    ["more than three marks on a letter", `a${"\u0301".repeat(5)}b\u20dd`, `a\u0301\u0301\u0301\\u0301\\u0301b\u20dd`],
    ["C1 controls and delete", "\u007F\u009B", "\\u007f\\u009b"],
  ])("has an escape when it has %s", (_what, text, expected) => {
    expect(toLabel(text)).toBe(expected);
  });

  it("stays as it is when it has letters of any script and emoji", () => {
    expect(toLabel("Grüße, 日本語, עִבְרִית, ကြိုး, སྒྲུབ, 👍")).toBe("Grüße, 日本語, עִבְרִית, ကြိုး, སྒྲུབ, 👍");
  });

  it("keeps line ends and tabs, and no other control, when it has many lines", () => {
    expect(toPieces("a\n\tb\u0007", true)).toEqual(["a", "\n", "", "\t", "b", "\\u0007", ""]);
  });

  it("is cut between characters when it is long", () => {
    expect(clip("x".repeat(10_000))).toBe(`${"x".repeat(300)}…`);
    expect(clip("ab👍", 3)).toBe("ab…");
    expect(clip("ab", 2)).toBe("ab");
  });
});

describe("formats", () => {
  it.each([
    [toDuration(0.44), "0.4 ms"],
    [toDuration(-5), "0.0 ms"],
    [toDuration(999.4), "999 ms"],
    [toDuration(999.5), "1.00 s"],
    [toDuration(59_996), "59 s"],
    [toDuration(185_000), "3 min 05 s"],
    [toSpan(-3000), "0 s"],
    [toSpan(7_620_000), "2 h 07 min"],
    [toSpan(187_200_000), "2 d 4 h"],
    [toBytes(999), "999 B"],
    [toBytes(4_110), "4.1 kB"],
    [toBytes(5_204_113), "5.2 MB"],
    [toBytes(2_000_000_000), "2,000 MB"],
    [toCount(12_345), "12,345"],
  ])("write %s", (written, expected) => {
    expect(written).toBe(expected);
  });

  it("keep JSON that an agent gets valid, and show its invisible characters", () => {
    const value = { "a\u202E": ["\u200B", "line\nend", 1.5, null, true] };
    const text = formatJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toContain('"a\\u202e"');
    expect(
      toJsonTokens(text)
        .map(([part]) => part)
        .join(""),
    ).toBe(text);
  });

  it("colour keys, texts and literals of JSON, and leave large ones plain", () => {
    const tones = toJsonTokens('{\n  "a": "b: \\"c\\"",\n  "d": -1e3\n}').filter(([, tone]) => tone !== "");
    expect(tones).toEqual([
      ['"a"', "key"],
      ['"b: \\"c\\""', "string"],
      ['"d"', "key"],
      ["-1e3", "literal"],
    ]);
    expect(toJsonTokens(`"${"x".repeat(70_000)}"`)).toHaveLength(1);
  });
});

describe("charts", () => {
  const second = (at: number, calls: number) => ({ at, calls, failed: 0, refused: 0 });

  it.each([
    [0, 1],
    [Number.NaN, 1],
    [0.3, 0.5],
    [1, 1],
    [101, 200],
    [450, 500],
    [999, 1000],
  ])("have the axis of %s end at %s", (value, expected) => {
    expect(toNiceMaximum(value)).toBe(expected);
  });

  it("put each second at its place, and leave out those of another time", () => {
    const now = 1_000_000_500;
    const seconds = [
      second(999_000_000, 9),
      second(999_881_000, 1),
      second(1_000_000_000, 2),
      second(1_000_005_000, 9),
    ];
    const slots = toSlots(seconds, now, ({ calls }) => calls);
    expect([slots.length, slots[0], slots[119]]).toEqual([120, 1, 2]);
    expect(slots.filter((one) => one !== undefined)).toHaveLength(2);
  });

  it("draw steps for values, and a line that bridges seconds without one", () => {
    expect(toAreaPath([undefined, 5, 0, 20], 10)).toBe("M1 100V50H2V100ZM3 100V0H4V100Z");
    expect(toLinePath([5, undefined, 10], 10)).toBe("M0.5 50L2.5 0");
    expect(toLinePath([undefined, 5], 10)).toBe("M1.5 50h0");
    expect(toLinePath([], 10)).toBe("");
  });
});
