import type { Approvals } from "../call/approvals.ts";
import type { CallTree } from "../call/call-tree.ts";
import { askTimeoutFields, type AskTimeouts } from "../catalog/asking/asking.ts";
import type { ContextFactory } from "../catalog/context/own-context.ts";
import type { AnyBespokePrompt } from "../catalog/custom/bespoke-prompt.ts";
import type { AnyBespokeResource } from "../catalog/custom/bespoke-resource.ts";
import type { AnyBespokeTool } from "../catalog/custom/bespoke-tool.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { MountSource } from "../catalog/mounts/mount.ts";
import type { MountedGate } from "../catalog/mounts/mounted-entry.ts";
import type { MemberExposure } from "../catalog/read-exposures.ts";
import { uriPrefix } from "../catalog/uri-syntax.ts";
import type { Link } from "../links/link.ts";
import type { SkillSource } from "../mcp/extensions/skill.ts";
import { defaultResourceBytes, defaultResultBytes, leastLargeBytes } from "../mcp/large-values.ts";
import {
  callable,
  matching,
  object,
  objectWithMethods,
  option,
  text,
  unchecked,
  wholeNumber,
  withDefault,
  type OptionFields,
  type WithDefaults,
} from "../options/option.ts";
import { invalidOption, readOptions, type ReadOptions } from "../options/read-options.ts";
import type { InspectedApp } from "../mcp/inspected-app.ts";
import type { ObserverOption, Observers } from "../observe/observers.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { FaultOptions, FaultReporter, ToRefusal } from "../surface/fault.ts";
import type { LiveSurface } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Source } from "../surface/source.ts";
import { iconList, type Icon } from "../tags/display-metadata.ts";
import { notificationWindow } from "../tags/read-tag-options.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { ViewPacket, ViewRules } from "../views/view-rules.ts";
import type { Views } from "../views/views.ts";
import type { ReadNames } from "./exact-names.ts";

/** Options of {@link mcp}. */
export interface McpOptions {
  /** The server's name in the protocol. @default the surface's name */
  readonly name?: string;
  /** @default "0.0.0" */
  readonly version?: string;
  /** The server's name for people. */
  readonly title?: string;
  /** The server's purpose, for people. */
  readonly description?: string;
  /** The URL of a page about the server, for people: `https:` or `http:`. */
  readonly websiteUrl?: string;
  /** At most 16 pictures of the server. */
  readonly icons?: readonly Icon[];
  /** Instructions for the model about the server as a whole. Some hosts cut them at 2 KB. */
  readonly instructions?: string;
  /** The start of every URI. @default `surface://<surface>/` */
  readonly uriPrefix?: string;
  /** Entries on a page of a list at most. @default 1000, because not every host requests a second page */
  readonly pageSize?: number;
  /**
   * Milliseconds between two notifications about one resource, after the first four, which are sent at once. The last change is
   * always announced. At most 60,000. A resource's `windowMs` takes precedence. @default 100
   */
  readonly changeWindowMs?: number;
  /**
   * The size of a tool result, in bytes of its text, up to which it is sent whole. The client gets the beginning of a larger one,
   * and where to read the rest. At least 4,096. @default 262144
   */
  readonly maxResultBytes?: number;
  /** The same limit for the content of a resource. At least 4,096. @default 1048576 */
  readonly maxResourceBytes?: number;
  /** Skills for hosts that load them: `skillsFolder("./skills")`. @default none */
  readonly skills?: SkillSource;
  /** Questions to clients: their timeouts, and the states that clients keep between two requests. */
  readonly asking?: AskingOptions;
  /** Receives every error that was masked before an agent saw it. @default the console's error stream */
  readonly onFault?: FaultReporter;
  /** Observers of the app, which `app.observe()` adds to. @default none */
  readonly observe?: ObserverOption | readonly ObserverOption[];
  /**
   * Returns the refusal to answer with for an error of your own classes that a handler, hand-written prompt, resource or source
   * threw. `undefined` keeps the error masked. Never called with a {@link Refusal} or {@link SurfaceError}. A live surface behind
   * a link has a `toRefusal` option too.
   */
  readonly toRefusal?: ToRefusal;
}

/** Options of questions to clients: their timeouts, and the sealed states that clients keep between two requests. */
export interface AskingOptions {
  /**
   * Milliseconds in which a client must answer, by the kind of the question. A single question may set another limit. The
   * `timeoutMs` of a tool bounds its call, questions included. @default `{ elicit: 300_000, sample: 60_000, roots: 10_000 }`
   */
  readonly timeoutMs?: AskTimeouts;
  /**
   * The secret that seals states, at least 32 bytes. All processes that answer one client need the same secret.
   * @default a random secret each time the app is opened, so that states do not outlive the process
   */
  readonly secret?: Uint8Array;
  /**
   * Marks a state as used. Returns `false` if it was used before. Needed if several processes share a secret. @default in memory
   *
   * @param id - identifies the state.
   * @param expiresAt - Unix time in milliseconds when the state expires.
   */
  readonly claim?: (id: string, expiresAt: number) => boolean | Promise<boolean>;
}

/** The live surface of an app. */
export type Backend =
  | { readonly kind: "link"; readonly link: Link }
  /** Implemented by the app itself: created each time the app is opened, and closed with it. */
  | { readonly kind: "implement"; implement(options: FaultOptions): LiveSurface<Spec> };

/** The entries of an app that is neither connected nor implemented, and the rules of its views. */
export interface AppAtRest {
  readonly catalog: Catalog;
  readonly views: Views;
}

/**
 * Compares an app with a review of it, each time the app is opened. Returns the gate of its mounted entries.
 *
 * @param app - the app without mounted entries.
 * @throws SurfaceError `EXPOSURE_DIFFERS`.
 */
export type AppSeal = (definition: AppDefinition, app: AppAtRest) => MountedGate;

/** The record that defines an app, frozen. Every step of the chain makes a copy. */
export interface AppDefinition {
  readonly surface: Surface<Spec>;
  readonly options: ResolvedMcpOptions;
  readonly exposures: readonly MemberExposure[];
  readonly tools: ReadonlyMap<string, AnyBespokeTool>;
  readonly prompts: ReadonlyMap<string, AnyBespokePrompt>;
  readonly resources: ReadonlyMap<string, AnyBespokeResource>;
  readonly backend: Backend | undefined;
  /** Sources of tools that are known only at run time, by prefix. */
  readonly mounts: ReadonlyMap<string, MountSource>;
  /** View rules, or their source. `undefined`: the default view shows everything. */
  readonly views: readonly ViewPacket[] | Source<ViewRules> | undefined;
  readonly replay: boolean;
  /** Creates the `context` of handlers. `undefined`: one in memory for each call. */
  readonly context: ContextFactory | undefined;
  /** The rule for tools that may change something and do not set `confirm`. */
  readonly confirm: ConfirmRule | undefined;
  readonly pull: boolean;
  /** The names that the app exposes, held at boot. `undefined`: any. */
  readonly exact: ReadNames | undefined;
  /** Holds the app to its lockfile. `undefined`: it has none. */
  readonly lock: AppSeal | undefined;
  readonly calls: CallTree;
  /** The confirmations that no client can show. */
  readonly approvals: Approvals;
  readonly observers: Observers;
  readonly inspected: InspectedApp;
}

/** The key of an app's definition. */
export const kDefinition: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.definition");

/** The minimum length of a secret in bytes: that of the key derived from it. */
const leastSecretBytes = 32;

const largeBytes = wholeNumber(leastLargeBytes, undefined, " of bytes");

/** Schemas of {@link AskingOptions}. */
export const askingFields: OptionFields<AskingOptions> = {
  timeoutMs: object<AskTimeouts>(askTimeoutFields),
  secret: option(
    `a Uint8Array of at least ${leastSecretBytes} bytes`,
    (value) => value instanceof Uint8Array && value.byteLength >= leastSecretBytes,
  ),
  claim: callable,
};

/** Schemas of {@link McpOptions}. */
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
  changeWindowMs: withDefault(notificationWindow, 100),
  maxResultBytes: withDefault(largeBytes, defaultResultBytes),
  maxResourceBytes: withDefault(largeBytes, defaultResourceBytes),
  skills: objectWithMethods(["open"], "the result of skillsFolder()"),
  asking: object<AskingOptions>(askingFields),
  onFault: callable,
  // Observers check themselves.
  observe: unchecked,
  toRefusal: callable,
};

/** The options of an app, with their defaults. */
export type ResolvedMcpOptions = ReadOptions<McpOptions, typeof mcpFields>;

/** Reads the options of an app. @throws SurfaceError `INVALID_OPTION`. */
export function readMcpOptions(options: McpOptions, surface: string): ResolvedMcpOptions {
  const doing = `Cannot create an app of surface "${surface}"`;
  const read = readOptions(options, mcpFields, doing);
  const { secret, claim } = read.asking ?? {};
  // Two processes with one secret and a memory each would both run a call for one consent.
  if (secret === undefined || claim !== undefined) return Object.freeze(read);
  throw invalidOption(
    doing,
    '"asking.secret" needs "asking.claim", which all processes share; leave both out in a single process',
  );
}
