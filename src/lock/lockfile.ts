import { createHash } from "node:crypto";
import { Refusal } from "../errors.ts";
import { fitsDepth } from "../json-rpc/scan.ts";
import { canonicalText, isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import { toVisibleJson } from "../schema/visible-text.ts";
import {
  countRecords,
  sections,
  type AppExposure,
  type ExposureRecords,
  type RecordCounts,
  type Section,
} from "./exposure.ts";

/** The default name of a lockfile. */
export const lockfileName = "exposure.lock.json";

/** The largest lockfile in characters. A thousand tools take about two million. */
export const maxLockfileLength: number = 32 * 1024 * 1024;

/** The version of the format. */
const formatVersion = 1;

/** The levels of a schema and of the records around it. */
const maxDepth = 512;

const schemaUrl = "https://unpkg.com/surface-mcp/docs/schemas/exposure-lock.schema.json";

/** The part of a lockfile that its digest is about. */
interface LockedContent extends AppExposure {
  readonly formatVersion: number;
  readonly counts: RecordCounts;
}

function toContent(exposure: AppExposure): LockedContent {
  return { formatVersion, counts: countRecords(exposure), ...exposure };
}

function digestOf(content: object): string {
  // Made of JSON.
  return `sha256:${createHash("sha256")
    .update(canonicalText(content as JsonObject))
    .digest("hex")}`;
}

/** Returns the digest of an exposure: equal for equal exposures only. */
function toExposureDigest(exposure: AppExposure): string {
  return digestOf(toContent(exposure));
}

/** Returns the text of the lockfile of an exposure: the same bytes for the same exposure, one field a line, every character visible. */
export function toLockfileText(exposure: AppExposure): string {
  const { counts, ...content } = toContent(exposure);
  const head = { $schema: schemaUrl, formatVersion, digest: toExposureDigest(exposure), counts };
  return `${toVisibleJson({ ...head, ...content }, 2)}\n`;
}

/** Creates the error of a lockfile that cannot be read. @param path - with a space before it. */
export function lockfileError(problem: string, path = ""): Refusal {
  return new Refusal("LOCKFILE", `Cannot read the lockfile${path}: ${problem}`);
}

const again = 'run "surface-mcp lock" again';
const conflict = /^(?:<{7}|\|{7}|={7}|>{7})(?:\s|$)/m;

function parseJson(text: string): JsonObject {
  if (text.length > maxLockfileLength) throw lockfileError(`it has more than ${maxLockfileLength} characters`);
  if (conflict.test(text))
    throw lockfileError(`it has the markers of a merge conflict; resolve the conflict, then ${again}`);
  if (!fitsDepth(text, maxDepth)) throw lockfileError(`it has more than ${maxDepth} levels`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw lockfileError(`it is not JSON; ${again}`);
  }
  if (isJsonObject(json)) return json;
  throw lockfileError(`it must be an object; ${again}`);
}

/** Returns a JSON text without spaces between its parts. Formatters may add and remove them. */
function withoutSpaces(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, string?: string) => string ?? "");
}

function assertVersion(version: JsonValue | undefined): void {
  if (version === formatVersion) return;
  if (typeof version === "number" && version > formatVersion) {
    throw lockfileError(`a newer version of surface-mcp wrote it, in format ${version}; update the package`);
  }
  throw lockfileError(`its format is unknown; ${again}`);
}

function isRecords(value: JsonValue | undefined): value is Record<string, JsonObject> {
  return isJsonObject(value) && Object.values(value).every(isJsonObject);
}

/**
 * Reads the exposure of a lockfile.
 *
 * @throws Refusal `LOCKFILE` for a text that `surface-mcp lock` did not write, or that was edited since, also by a merge.
 */
export function parseLockfile(text: string): AppExposure {
  const json = parseJson(text);
  const { $schema: _schema, digest, ...content } = json;
  assertVersion(content["formatVersion"]);
  // A key that stands twice would hide the first value from this comparison.
  const isEdited = digestOf(content) !== digest || withoutSpaces(text) !== toVisibleJson(json);
  if (isEdited) throw lockfileError(`it was changed after it was written; ${again}`);
  const records = sections.map((section): readonly [Section, ExposureRecords] => {
    const value = content[section];
    if (!isRecords(value)) throw lockfileError(`its "${section}" must be an object of objects; ${again}`);
    return [section, value];
  });
  // Has every section.
  return Object.fromEntries(records) as AppExposure;
}
