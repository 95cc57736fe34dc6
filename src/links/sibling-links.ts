import { SurfaceError } from "../errors.ts";
import { callable, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import { assertSegment, siblingsOf, type Siblings } from "../surface/compose-surfaces.ts";
import { createClient } from "../surface/create-client.ts";
import type { Surface } from "../surface/define-surface.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import type { Spec } from "../surface/member.ts";
import { relay } from "../surface/relayed.ts";
import { HeldSurface } from "./held-surface.ts";
import { Ending, type Connection, type KeepOptions, type KeptLink, type Link } from "./link.ts";
import { retold } from "./retold.ts";
import { SiblingChannel } from "./sibling-channel.ts";

/** What {@link siblingLinks} may be told. */
export interface SiblingLinksOptions {
  /** Told why a sibling cannot be reached: once for each time that it goes away. Default: the console's error stream. */
  readonly onFault?: FaultReporter;
}

function mismatch(surface: Surface<Spec>, problem: string): SurfaceError {
  return new SurfaceError("CONTRACT_MISMATCH", `Connecting to surface "${surface.name}": ${problem}`);
}

function quoted(names: Iterable<string>): string {
  return [...names].map((name) => `"${name}"`).join(" and ");
}

/** The links that are of no sibling of a surface, by their segments: misspelt, or left over. */
function surplusOf(siblings: Siblings<Surface<Spec>>, links: ReadonlyMap<string, Link>): readonly string[] {
  return [...links.keys()].filter((segment) => !siblings.has(segment));
}

/** The siblings of a surface. @throws SurfaceError `CONTRACT_MISMATCH` where one of them has no link. */
function toSiblings(surface: Surface<Spec>, links: ReadonlyMap<string, Link>): Siblings<Surface<Spec>> {
  const siblings = siblingsOf(surface);
  if (siblings === undefined) throw mismatch(surface, "it must be made by composeSurfaces()");
  for (const segment of siblings.keys()) {
    if (links.has(segment)) continue;
    const surplus = surplusOf(siblings, links);
    const besides = surplus.length === 0 ? "" : `, and ${quoted(surplus)} is no sibling`;
    throw mismatch(surface, `its sibling "${segment}" has no link${besides}`);
  }
  return siblings;
}

/** Passes on the failures of a sibling as answers: the connection of all siblings stands. */
function relaying(channel: SurfaceChannel): SurfaceChannel {
  return {
    async request(operation) {
      try {
        return await channel.request(operation);
      } catch (cause) {
        throw relay(cause);
      }
    },
    subscribe: (operation) => retold(() => channel.subscribe(operation), { failed: relay }),
  };
}

function keepOne(link: Link, options: KeepOptions, scope: Scope): Link {
  const kept = link.keep?.(options);
  if (kept === undefined) return link;
  scope.add(() => kept.close());
  return kept;
}

class SiblingLinks implements Link {
  readonly #links: ReadonlyMap<string, Link>;
  readonly #report: FaultReporter;

  constructor(links: ReadonlyMap<string, Link>, report: FaultReporter) {
    this.#links = links;
    this.#report = report;
    Object.freeze(this);
  }

  check(surface: Surface<Spec>): void {
    const siblings = toSiblings(surface, this.#links);
    const surplus = surplusOf(siblings, this.#links);
    if (surplus.length > 0) {
      const problem = `its siblings are ${quoted(siblings.keys())}, and there is a link to ${quoted(surplus)}`;
      throw new SurfaceError("UNKNOWN_MEMBER", `Connecting to surface "${surface.name}": ${problem}`);
    }
    for (const [segment, sibling] of siblings) this.#links.get(segment)?.check?.(sibling);
  }

  async connect<TAsked extends Spec>(surface: Surface<TAsked>): Promise<Connection<TAsked>> {
    const scope = new Scope(`the connections to the siblings of surface "${surface.name}"`);
    const channels = new Map<string, SurfaceChannel>();
    for (const [segment, sibling] of toSiblings(surface, this.#links)) {
      const held = this.#hold(segment, sibling);
      if (held === undefined) continue;
      scope.add(() => held.close());
      channels.set(segment, relaying(held.channel));
    }
    const channel = new SiblingChannel(channels);
    const ending = new Ending();
    scope.add(() => ending.end({ kind: "closed" }));
    const { state, closed } = ending;
    return Object.freeze({
      client: createClient(surface, channel),
      channel,
      state,
      closed,
      close: () => scope.close(),
    });
  }

  keep(options: KeepOptions = {}): KeptLink {
    const scope = new Scope("the links to siblings");
    const report = options.onFault === undefined ? this.#report : toSafeReporter(options.onFault);
    try {
      const links = new Map([...this.#links].map(([segment, link]) => [segment, keepOne(link, options, scope)]));
      const kept = new SiblingLinks(links, report);
      return Object.freeze({
        check: (surface: Surface<Spec>) => kept.check(surface),
        connect: <TAsked extends Spec>(surface: Surface<TAsked>) => kept.connect(surface),
        close: () => scope.close(),
      });
    } catch (cause) {
      // Why it could not be made is what its author has to hear.
      scope.close().catch(() => {});
      throw cause;
    }
  }

  #hold(segment: string, surface: Surface<Spec>): HeldSurface | undefined {
    const link = this.#links.get(segment);
    if (link === undefined) return undefined;
    const onUnreachable = (cause: unknown): void =>
      void internalError(cause, `reaching surface "${surface.name}"`, this.#report);
    return new HeldSurface({ link, surface, onUnreachable, outlivesLink: true });
  }
}

const fields: OptionFields<SiblingLinksOptions> = { onFault: callable };

/**
 * A link to a composed surface, each sibling of which is reached by a link of its own. Each is connected to when it is
 * first used, and again when it was lost: while one cannot be reached its members answer `UNAVAILABLE`, and the others
 * work. So the connection to all of them stands until it is closed. The members of one that is in this process and was
 * closed answer `DROPPED` from then on.
 *
 * @param links - a link a sibling, by the segments of the surface.
 * @throws SurfaceError `INVALID_OPTION` for what is not a link, `INVALID_NAME` for a segment; from `connect()`:
 * `CONTRACT_MISMATCH` for a surface that is not composed, or has a sibling without a link; and when an app is opened over
 * it, `UNKNOWN_MEMBER` for a link to what is no sibling of its surface.
 * @example
 * ```ts
 * const app = mcp(composeSurfaces("ci", { pipeline, notes })).bridge(
 *   siblingLinks({ pipeline: unixSocket(path), notes: inProcess(liveNotes) }),
 * );
 * ```
 */
export function siblingLinks(links: Readonly<Record<string, Link>>, options: SiblingLinksOptions = {}): Link {
  const { onFault = reportToConsole } = readOptions(options, fields, "Linking siblings");
  const doing = "Linking siblings";
  for (const [segment, link] of Object.entries(links)) {
    assertSegment(segment, doing);
    if (typeof link?.connect === "function") continue;
    throw new SurfaceError("INVALID_OPTION", `${doing}: "${segment}" must be a link, for example inProcess(live)`);
  }
  return new SiblingLinks(new Map(Object.entries(links)), toSafeReporter(onFault));
}
