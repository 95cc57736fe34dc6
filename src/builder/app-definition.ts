import type { CallTree } from "../call/call-tree.ts";
import type { AskTimeouts } from "../catalog/asking/asking.ts";
import type { AnyBespokePrompt } from "../catalog/custom/bespoke-prompt.ts";
import type { AnyBespokeResource } from "../catalog/custom/bespoke-resource.ts";
import type { AnyBespokeTool } from "../catalog/custom/bespoke-tool.ts";
import type { MountSource } from "../catalog/mounts/mount.ts";
import type { ContextFactory } from "../catalog/context/own-context.ts";
import type { Exposure } from "../catalog/read-exposures.ts";
import type { Link } from "../links/link.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { FaultOptions, FaultReporter, ToRefusal } from "../surface/fault.ts";
import type { LiveSurface } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Source } from "../surface/source.ts";
import type { Icon } from "../tags/looks.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { ViewPacket, ViewRules } from "../views/view-rules.ts";
import type { ReadMcpOptions } from "./mcp-option-fields.ts";

/** What {@link mcp} may be told. */
export interface McpOptions {
  /** How the server names itself. Default: the surface's name. */
  readonly name?: string;
  /** Default `"0.0.0"`. */
  readonly version?: string;
  /** How people see the server named. */
  readonly title?: string;
  /** What the server is for, for people. */
  readonly description?: string;
  /** Where people read more about it: an `https:` or `http:` URL. */
  readonly websiteUrl?: string;
  /** Pictures that stand for the server; at most 16. */
  readonly icons?: readonly Icon[];
  /** What the model is told about the server as a whole; some hosts cut at 2 KB. */
  readonly instructions?: string;
  /** What every URI starts with. Default `surface://<surface>/`. */
  readonly uriPrefix?: string;
  /** How many entries a page of a list holds. Default 1,000: not every host asks for a second page. */
  readonly pageSize?: number;
  /**
   * Milliseconds until one more change of a resource may be announced, after the first four at once; the last change is
   * always announced. At most 60,000. A resource's own `windowMs` goes before it. @default 100
   */
  readonly changeWindowMs?: number;
  /**
   * How much of a tool's result is given whole, in bytes of its text; of a larger one the beginning, and where to read the
   * rest. Default 262,144; at least 4,096.
   */
  readonly maxResultBytes?: number;
  /** The same of what is under a URI. Default 1,048,576; at least 4,096. */
  readonly maxResourceBytes?: number;
  /** Questions to clients: their time, and how they are kept between two requests. */
  readonly asking?: AskingOptions;
  /** Receives every error that was masked before an agent saw it. Default: the console's error stream. */
  readonly onFault?: FaultReporter;
  /**
   * Returns the refusal to answer with for an error of your own classes that a handler, hand-written prompt, resource or source
   * threw. `undefined` keeps the error masked. Never called with a {@link Refusal} or {@link SurfaceError}. A live surface behind
   * a link has its own.
   */
  readonly toRefusal?: ToRefusal;
}

/** Questions to clients: the time that they have, and the sealed states in which clients keep them between two requests. */
export interface AskingOptions {
  /**
   * Milliseconds in which a client must answer, by the kind of the question. A single question may set its own; the `timeoutMs` of
   * a tool bounds its call, questions included. @default `{ elicit: 300_000, sample: 60_000, roots: 10_000 }`
   */
  readonly timeoutMs?: AskTimeouts;
  /**
   * What states are sealed with, at least 32 bytes; the same for all processes that answer one client. Default: made anew with
   * each time the app is opened, so that nobody else can open them, and they do not outlive the process.
   */
  readonly secret?: Uint8Array;
  /**
   * Takes a state for used, once: `false` says that it was used before. Needed where several processes share a secret. Default:
   * in memory.
   *
   * @param id - names the state.
   * @param expiresAt - when nobody can use it any more, in milliseconds since 1970.
   */
  readonly claim?: (id: string, expiresAt: number) => boolean | Promise<boolean>;
}

/** How an app reaches its live surface. */
export type Reach =
  | { readonly kind: "link"; readonly link: Link }
  /** Implemented by the app itself: made anew for each time it is opened, and closed with it. */
  | { readonly kind: "implement"; implement(options: FaultOptions): LiveSurface<Spec> };

/** Everything an app is: one frozen record, of which every step of the chain makes a copy. */
export interface AppDefinition {
  readonly surface: Surface<Spec>;
  readonly options: ReadMcpOptions;
  readonly exposures: readonly Exposure[];
  readonly tools: ReadonlyMap<string, AnyBespokeTool>;
  readonly prompts: ReadonlyMap<string, AnyBespokePrompt>;
  readonly resources: ReadonlyMap<string, AnyBespokeResource>;
  readonly reach: Reach | undefined;
  /** Where tools come from that are known only at run time, by their prefix. */
  readonly mounts: ReadonlyMap<string, MountSource>;
  /** Who sees what: rules that were read, or where they come from. `undefined`: there is the default view, of everything. */
  readonly views: readonly ViewPacket[] | Source<ViewRules> | undefined;
  readonly replay: boolean;
  /** Makes what handlers have of their own. `undefined`: in memory, anew for each call. */
  readonly context: ContextFactory | undefined;
  /** Whether users are asked before tools run that may change something and say nothing of it themselves. */
  readonly confirm: ConfirmRule | undefined;
  readonly pull: boolean;
  readonly calls: CallTree;
}

/** Where an app keeps its definition. */
export const kDefinition: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.definition");
