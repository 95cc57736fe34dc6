import { uriPrefix } from "../catalog/uri-syntax.ts";
import { askTimeoutFields, type AskTimeouts } from "../catalog/asking/asking.ts";
import { defaultResourceBytes, defaultResultBytes, leastLargeBytes } from "../mcp/large-values.ts";
import {
  callable,
  matching,
  object,
  option,
  text,
  wholeNumber,
  withDefault,
  type OptionFields,
  type WithDefaults,
} from "../options/option.ts";
import { invalidOption, readOptions, type ReadOptions } from "../options/read-options.ts";
import { iconList } from "../tags/looks.ts";
import { noticeWindow } from "../tags/read-tag-options.ts";
import type { AskingOptions, McpOptions } from "./app-definition.ts";

/** The least that a secret may hold, in bytes: the length of the key that is derived from it. */
const leastSecretBytes = 32;

const largeBytes = wholeNumber(leastLargeBytes, undefined, " of bytes");

/** Options of questions. */
export const askingFields: OptionFields<AskingOptions> = {
  timeoutMs: object<AskTimeouts>(askTimeoutFields),
  secret: option(
    `a Uint8Array of at least ${leastSecretBytes} bytes`,
    (value) => value instanceof Uint8Array && value.byteLength >= leastSecretBytes,
  ),
  claim: callable,
};

/** Options of an app. */
export const mcpFields: OptionFields<McpOptions> &
  WithDefaults<"version" | "pageSize" | "changeWindowMs" | "maxResultBytes" | "maxResourceBytes"> = {
  name: text,
  version: withDefault(text, "0.0.0"),
  title: text,
  description: text,
  websiteUrl: matching("an https: or http: URL", /^https?:\/\/[^\s<>"]+$/i),
  icons: iconList,
  instructions: text,
  uriPrefix,
  pageSize: withDefault(wholeNumber(1), 1000),
  changeWindowMs: withDefault(noticeWindow, 100),
  maxResultBytes: withDefault(largeBytes, defaultResultBytes),
  maxResourceBytes: withDefault(largeBytes, defaultResourceBytes),
  asking: object<AskingOptions>(askingFields),
  onFault: callable,
  toRefusal: callable,
};

/** The options of an app, with their defaults. */
export type ReadMcpOptions = ReadOptions<McpOptions, typeof mcpFields>;

/** Reads the options of an app. @throws SurfaceError `INVALID_OPTION`. */
export function readMcpOptions(options: McpOptions, surface: string): ReadMcpOptions {
  const doing = `Making an app of surface "${surface}"`;
  const read = readOptions(options, mcpFields, doing);
  const { secret, claim } = read.asking ?? {};
  // Two processes with one secret and a memory each would both run a call for one consent.
  if (secret === undefined || claim !== undefined) return Object.freeze(read);
  throw invalidOption(
    doing,
    '"asking.secret" needs "asking.claim", which all processes share; leave both out in a single process',
  );
}
