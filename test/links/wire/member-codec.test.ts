import { describe, expect, it } from "vitest";
import * as z from "zod";
import { toMemberCodec } from "../../../src/links/wire/member-codec.ts";
import type { JsonValue } from "../../../src/schema/json.ts";
import { event } from "../../../src/surface/define-members.ts";

const rang = event({ output: z.number() });

function receive(told: Record<string, JsonValue>): unknown {
  const wait = { status: "fired", cursor: "x.1", occurrence: { value: 1 }, ...told };
  return toMemberCodec(rang, "rang").answer("wait")?.receive({ value: wait });
}

describe("toMemberCodec()", () => {
  it.each([0, 7, 1e9])("reads that %d occurrences were missed", (missed) => {
    expect(receive({ missed })).toMatchObject({ occurrence: 1, missed });
    expect(receive({ missed })).not.toHaveProperty("reset");
  });

  it.each([1e16, 1e9 + 1, -3, 0.5, "7", null])(
    "reads only that something was missed when it is told as %j",
    (missed) => {
      expect(receive({ missed })).toMatchObject({ occurrence: 1, reset: true });
      expect(receive({ missed })).not.toHaveProperty("missed");
    },
  );
});
