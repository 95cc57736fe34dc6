import { maxPatternLength, maxPatterns } from "../catalog/glob.ts";
import { assertKnown, fieldOf, readFields, readText, toMisfit, type Fields, type Place } from "./plain-data.ts";
import type { SurfaceVerdict, ViewVerdict } from "./view-rules.ts";

/** The longest instructions and reasons, in characters. Hosts cut what a model is told far below that. */
const maxWords = 8192;

const viewFields = ["allow", "disallow", "readOnly", "instructions", "face"] as const;

function readPatterns(value: unknown, place: Place): readonly string[] {
  if (!Array.isArray(value) || value.length > maxPatterns) {
    throw toMisfit(value, place, `a list of at most ${maxPatterns} patterns`);
  }
  return Object.freeze(
    Array.from<unknown>(value).map((pattern, index) => readText(pattern, fieldOf(place, `${index}`), maxPatternLength)),
  );
}

/** What a view says, but for its kind. */
function readView(fields: Fields, place: Place): SurfaceVerdict {
  const patterns = (name: "allow" | "disallow"): object =>
    fields.has(name) ? { [name]: readPatterns(fields.get(name), fieldOf(place, name)) } : {};
  const readOnly = fields.get("readOnly");
  if (readOnly !== undefined && typeof readOnly !== "boolean") {
    throw toMisfit(readOnly, fieldOf(place, "readOnly"), "true or false");
  }
  const instructions = fields.get("instructions");
  const face = fields.get("face");
  if (face !== undefined && face !== "direct" && face !== "gateway") {
    throw toMisfit(face, fieldOf(place, "face"), `"direct" or "gateway"`);
  }
  return Object.freeze({
    kind: "tool_surface",
    ...patterns("allow"),
    ...patterns("disallow"),
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(instructions === undefined
      ? {}
      : { instructions: readText(instructions, fieldOf(place, "instructions"), maxWords) }),
    ...(face === undefined ? {} : { face }),
  });
}

function toDenial(reason: unknown, place: Place): ViewVerdict {
  return Object.freeze({ kind: "deny", reason: readText(reason, place, maxWords) });
}

/** The verdict of a rule: a frozen copy. @throws SurfaceError `INVALID_OPTION` naming the field. */
export function readVerdict(value: unknown, place: Place): ViewVerdict {
  const fields = readFields(value, place);
  const kind = fields.get("kind");
  if (kind === "tool_surface") {
    assertKnown(fields, ["kind", ...viewFields], place);
    return readView(fields, place);
  }
  if (kind !== "deny") throw toMisfit(kind, fieldOf(place, "kind"), `"tool_surface" or "deny"`);
  assertKnown(fields, ["kind", "reason"], place);
  return toDenial(fields.get("reason"), fieldOf(place, "reason"));
}

/** A view that was written by its name, as a verdict. @throws SurfaceError `INVALID_OPTION` naming the field. */
export function readNamedView(value: unknown, place: Place): ViewVerdict {
  const fields = readFields(value, place);
  if (fields.has("deny")) {
    assertKnown(fields, ["deny"], place);
    return toDenial(fields.get("deny"), fieldOf(place, "deny"));
  }
  assertKnown(fields, [...viewFields, "deny"], place);
  return readView(fields, place);
}
