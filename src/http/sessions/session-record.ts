import { createHash } from "node:crypto";
import type { AskKind } from "../../catalog/asking/asking.ts";
import type { LogLevel } from "../../catalog/entry.ts";
import { clientExtensionIds, type ClientExtension } from "../../mcp/extensions/extensions.ts";
import { legacyVersions } from "../../mcp/handshake.ts";
import { isLogLevel } from "../../mcp/notifications.ts";
import { flag, listOf, matching, object, oneOf, option, required, text } from "../../options/option.ts";
import { parseJson } from "../../schema/json.ts";
import { callerKey, type Caller, type CallerView } from "../../surface/caller.ts";

import { createEventTag } from "./event-log.ts";

/** The part of a session that its requests change. All replicas share it. */
export interface SharedState {
  readonly isInitialized: boolean;
  /** Level of the client's log. @default the first level */
  readonly level?: LogLevel;
  /** URIs that the client is subscribed to. */
  readonly uris: readonly string[];
  /** Scopes and grants that a reader of the streams needs. */
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  /** Tag of the copy whose client reads notices, or read them last. @default no client has */
  readonly reader?: string;
}

/** A session as the store keeps it, for every replica. */
export interface SessionRecord extends SharedState {
  /** The protocol version of the handshake. */
  readonly version: string;
  readonly kinds: readonly AskKind[];
  /** @default none */
  readonly extensions?: readonly ClientExtension[];
  /** Starts the ids of the session's events. */
  readonly tag: string;
  readonly view?: CallerView;
}

const texts = required(listOf(text, "a list of texts"));
const client = object<NonNullable<CallerView["client"]>>({ name: required(text), version: required(text) });
const view = object<CallerView>({ surface: required(text), project: text, userAgent: text, client });

const record = object<SessionRecord>({
  version: required(oneOf(...legacyVersions)),
  kinds: required(listOf(oneOf("elicit", "sample", "roots"), "a list of kinds")),
  extensions: listOf(
    option("an extension", (value) => clientExtensionIds.some((id) => id === value)),
    "a list of extensions",
  ),
  tag: required(matching("a tag", /^[0-9a-f]{12}$/)),
  view,
  isInitialized: required(flag),
  level: option("a log level", isLogLevel),
  uris: texts,
  scopes: texts,
  grants: texts,
  reader: text,
});

/** Creates the record of a session that begins. */
export function newRecord({
  kinds,
  extensions,
  version,
  view: seen,
}: {
  readonly kinds: Iterable<AskKind>;
  readonly extensions: ReadonlySet<ClientExtension>;
  readonly version: string;
  readonly view: CallerView | undefined;
}): SessionRecord {
  const first = { isInitialized: false, uris: [], scopes: [], grants: [] };
  const known = { version, kinds: [...kinds], tag: createEventTag() };
  const declared = extensions.size === 0 ? {} : { extensions: [...extensions] };
  return { ...known, ...declared, ...first, ...(seen === undefined ? {} : { view: seen }) };
}

/** Reads a record; `undefined` for a text that is no record of this format. */
export function readRecord(json: string): SessionRecord | undefined {
  const read = parseJson(json);
  // The schema has checked every member.
  return record.problem(read, "record") === undefined ? (read as SessionRecord) : undefined;
}

/** Returns a short text that stands for the caller in keys of the store. */
function digestOf(caller: Caller): string {
  return createHash("sha256").update(callerKey(caller)).digest("base64url");
}

/** Returns the key of a session. Another caller's request for the same id has another key. */
export function sessionKeyOf(caller: Caller, id: string): string {
  return `session:${digestOf(caller)}:${id}`;
}

/** Returns the group in which the sessions of a known caller count; `undefined` for an anonymous caller. */
export function sessionGroupOf(caller: Caller): string | undefined {
  return caller.isAnonymous ? undefined : `sessions:${digestOf(caller)}`;
}
