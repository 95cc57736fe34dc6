import type { Redactor } from "../../observe/redact-secrets.ts";
import {
  callable,
  flag,
  option,
  required,
  wholeNumber,
  withDefault,
  type OptionFields,
  type WithDefaults,
} from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import { isLoopbackAuthority } from "../addresses.ts";

/** What the live page shows, and may do. */
export interface LivePageOptions {
  /** Whether a person decides on the page about confirmations that the client of the agent cannot show. @default false */
  readonly approve?: boolean;
  /** Shows arguments, results and values, redacted by this function: `redactSecrets()`. @default the page shows none of them */
  readonly values?: Redactor;
  /** Requests and calls that the page can look back on. Default 10,000, at most 100,000. */
  readonly history?: number;
}

/** The option `inspector` of `http()`. */
export interface InspectorListenOptions extends LivePageOptions {
  /** Default 0: any free port. */
  readonly port?: number;
}

/** Options of `inspectorHandler()`. */
export interface InspectorHandlerOptions extends LivePageOptions {
  /**
   * The address under which browsers reach the handler: `http://localhost:3000/inspect/`. It must be https:, except on this machine.
   * Requests to any other host are refused.
   */
  readonly url: string;
}

const pageFields: OptionFields<LivePageOptions> & WithDefaults<"approve" | "history"> = {
  approve: withDefault(flag, false),
  values: callable,
  history: withDefault(wholeNumber(1, 100_000), 10_000),
};

/** Schemas of {@link InspectorListenOptions}. */
export const inspectorListenFields: OptionFields<InspectorListenOptions> &
  WithDefaults<"approve" | "history" | "port"> = {
  ...pageFields,
  port: withDefault(wholeNumber(0, 65_535), 0),
};

function isPageUrl(value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, host, username, password, search, hash } = new URL(value);
  if (`${username}${password}${search}${hash}` !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackAuthority(host));
}

const inspectorHandlerFields: OptionFields<InspectorHandlerOptions> & WithDefaults<"approve" | "history"> = {
  ...pageFields,
  url: required(option("an https: URL without user and query, or an http: URL of localhost", isPageUrl)),
};

const doing = "Cannot serve the live page";

/** Options of a page, with their defaults. */
export type ReadPage = LivePageOptions & Required<Pick<LivePageOptions, "approve" | "history">>;

/** Reads the option `inspector` of `http()`. @throws SurfaceError `INVALID_OPTION`. */
export function readListen(options: InspectorListenOptions): ReadPage & { readonly port: number } {
  return readOptions(options, inspectorListenFields, doing);
}

/** Reads the options of `inspectorHandler()`. @throws SurfaceError `INVALID_OPTION`. */
export function readHandler(options: InspectorHandlerOptions): ReadPage & { readonly url: string } {
  return readOptions(options, inspectorHandlerFields, doing);
}
