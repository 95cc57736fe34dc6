import { createHash } from "node:crypto";

/** What a cursor remembers of one resource. */
export interface Mark {
  /** Names the life of the watch that {@link Mark.version} belongs to. */
  readonly epoch: string;
  readonly version: number;
  /** Tells the value from another, also after its watch has lapsed; `undefined` where none was known. */
  readonly digest: string | undefined;
}

const maxLength = 8192;
const markPattern = /^([\w-]{6})~([\w-]{8})?~([\w-]{1,24})~([0-9a-z]{1,10})$/;

/** A short name for a text: enough to tell a few apart, and no more to copy than it must be. */
export function digestOf(text: string, length = 8): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, length);
}

function nameOf(uri: string): string {
  return digestOf(uri, 6);
}

/** Marks by URI, as a caller keeps them: opaque text. */
export function writeCursor(marks: ReadonlyMap<string, Mark>): string {
  const parts = [...marks].map(
    ([uri, { epoch, version, digest = "" }]) => `${nameOf(uri)}~${digest}~${epoch}~${version.toString(36)}`,
  );
  return parts.join(".");
}

/** Marks out of a cursor. */
export interface ReadMarks {
  of(uri: string): Mark | undefined;
}

/** Reads a cursor back; `undefined` where it is none. */
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
