import { createHash } from "node:crypto";

/** The position of a cursor in the changes of one resource. */
export interface Mark {
  /** Identifies the watch that counted {@link Mark.version}. */
  readonly epoch: string;
  readonly version: number;
  /** Identifies the value once the watch has lapsed; `undefined` if the value was not known. */
  readonly digest: string | undefined;
}

const maxLength = 8192;
const markPattern = /^([\w-]{6})~([\w-]{8})?~([\w-]{1,24})~([0-9a-z]{1,10})$/;

/** Returns a short hash. */
export function digestOf(text: string, length = 8): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, length);
}

function nameOf(uri: string): string {
  return digestOf(uri, 6);
}

/** Writes marks by URI as an opaque text. */
export function writeCursor(marks: ReadonlyMap<string, Mark>): string {
  const parts = [...marks].map(
    ([uri, { epoch, version, digest = "" }]) => `${nameOf(uri)}~${digest}~${epoch}~${version.toString(36)}`,
  );
  return parts.join(".");
}

/** Marks of a cursor. */
export interface ReadMarks {
  of(uri: string): Mark | undefined;
}

/** Reads a cursor; `undefined` if it is not one. */
export function readCursor(cursor: string): ReadMarks | undefined {
  if (cursor.length > maxLength) return undefined;
  const marks = new Map<string, Mark>();
  for (const part of cursor.split(".")) {
    const [, name, digest, epoch, version] = markPattern.exec(part) ?? [];
    if (name === undefined || epoch === undefined || version === undefined) return undefined;
    marks.set(name, { epoch, version: Number.parseInt(version, 36), digest });
  }
  return { of: (uri) => marks.get(nameOf(uri)) };
}
