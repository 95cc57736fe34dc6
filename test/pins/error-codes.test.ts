import { describe, expect, it } from "vitest";
import { surfaceErrorCodes } from "../../src/errors.ts";

describe("error codes", () => {
  it("surfaceErrorCodes names these when callers match on them", () => {
    expect(surfaceErrorCodes).toEqual([
      "INVALID_NAME",
      "INVALID_MEMBER",
      "INVALID_OPTION",
      "NAME_COLLISION",
      "UNKNOWN_MEMBER",
      "WRONG_KIND",
      "ALREADY_EXPOSED",
      "CONTRADICTION",
      "SCHEMA_UNSUPPORTED",
      "MISSING_HANDLER",
      "UNKNOWN_HANDLER",
      "NOT_LINKED",
      "ALREADY_LINKED",
      "CONTRACT_MISMATCH",
      "EXPOSURE_DIFFERS",
      "UNSAFE_DIRECTORY",
      "SOCKET_IN_USE",
      "NOT_A_SOCKET",
      "WRONG_OWNER",
      "VALIDATION_ERROR",
      "INVALID_OUTPUT",
      "UNSERIALISABLE",
      "NOT_FOUND",
      "ABSENT",
      "TIMEOUT",
      "ABORTED",
      "OVERFLOW",
      "UNAVAILABLE",
      "DISCONNECTED",
      "OUTCOME_UNKNOWN",
      "PROTOCOL_MISMATCH",
      "FRAME_TOO_LARGE",
      "DROPPED",
      "INPUT_REQUIRED",
      "CLOSED",
      "INTERNAL",
    ]);
  });
});
