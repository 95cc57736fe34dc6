import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { surfaceErrorCodes } from "../../src/errors.ts";
import { isCrossing } from "../../src/links/wire/protocol.ts";
import { RelayedError } from "../../src/surface/relayed.ts";
import { root } from "./markdown-snippets.ts";

/** The codes in the first column of a page's tables, in order. */
function tabledCodes(file: string): readonly string[] {
  const rows = readFileSync(join(root, file), "utf8").matchAll(/^\| (`[A-Z_`, ]+`) *\|/gm);
  return [...rows].flatMap(([, codes = ""]) => codes.match(/[A-Z_]+/g) ?? []).toSorted();
}

describe("documentation", () => {
  test("lists every code that an agent may read once, with an advice", () => {
    const runTime = surfaceErrorCodes.slice(surfaceErrorCodes.indexOf("VALIDATION_ERROR"));
    // All are an agent's to read too: one is found when an app is put together as well, the others are no errors of ours.
    const answers = ["RESULT_TOO_LARGE", "RATE_LIMITED", "OPERATION_NOT_FOUND", "CALL_DEPTH"];
    const asked = ["CLIENT_CANNOT", "ASK_AFTER_CHANGE", "ASK_FAILED", "ASK_TIMEOUT", "ASK_STATE_TOO_LARGE", "DECLINED"];
    const read = [...runTime, "CONTRACT_MISMATCH", ...answers, ...asked];
    expect(tabledCodes("docs/guide/errors.md")).toEqual(read.toSorted());
  });

  test("lists every code that crosses a link", () => {
    const crossing = surfaceErrorCodes.filter((code) => isCrossing(new RelayedError(code, "told")));
    expect(tabledCodes("docs/LINK-PROTOCOL.md")).toEqual(crossing.toSorted());
  });
});
