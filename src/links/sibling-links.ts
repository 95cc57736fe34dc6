import { SurfaceError } from "../errors.ts";
import { callable, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient, UseOptions } from "../surface/client.ts";
import { assertSegment, composeSurfaces, siblingsOf, type Siblings } from "../surface/compose-surfaces.ts";
import { createClient } from "../surface/create-client.ts";
import type { LiteralKeys, Surface } from "../surface/define-surface.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import type { Spec } from "../surface/member.ts";
import { relay } from "../surface/relayed.ts";
import { ReconnectingSurface } from "./reconnecting-surface.ts";
import { ConnectionEnd, type Connection, type KeepOptions, type KeptLink, type Link } from "./link.ts";
import { createSiblingChannel, mismatch, withMember } from "./reach-surface.ts";

/** Options of {@link siblingLinks}. */
export interface SiblingLinksOptions {
  /** Receives the reason each time that a sibling cannot be reached. @default the console's error stream */
  readonly onFault?: FaultReporter;
}

function quoted(names: Iterable<string>): string {
  return [...names].map((name) => `"${name}"`).join(" and ");
}

type Links = ReadonlyMap<string, Link>;

/** Returns the siblings of a surface. @throws SurfaceError `CONTRACT_MISMATCH` if one has no link. */
function linkedSiblings(surface: Surface<Spec>, links: Links): Siblings<Surface<Spec>> {
  const siblings = siblingsOf(surface);
  if (siblings === undefined) throw mismatch(surface.name, "it is not composed; make it with composeSurfaces()");
  const missing = [...siblings.keys()].find((segment) => !links.has(segment));
  if (missing === undefined) return siblings;
  throw mismatch(surface.name, `its sibling "${missing}" has no link; there are links to ${quoted(links.keys())}`);
}

/** Refuses a surface that the links do not fit. A link without a sibling is misspelt, or left over. */
function checkLinks(surface: Surface<Spec>, links: Links): void {
  const siblings = linkedSiblings(surface, links);
  const surplus = [...links.keys()].filter((segment) => !siblings.has(segment));
  if (surplus.length > 0) {
    const problem = `its siblings are ${quoted(siblings.keys())}, and there is a link to ${quoted(surplus)}`;
    throw new SurfaceError("UNKNOWN_MEMBER", `Cannot connect to surface "${surface.name}": ${problem}`);
  }
  for (const [segment, sibling] of siblings) links.get(segment)?.check?.(sibling);
}

/** Relays the failures of a sibling, since they do not end the connection to all siblings. */
function relaying(channel: SurfaceChannel): SurfaceChannel {
  return {
    async request(operation) {
      try {
        return await channel.request(operation);
      } catch (cause) {
        throw relay(cause);
      }
    },
    subscribe(operation) {
      const open = (): AsyncIterable<unknown> => {
        try {
          return channel.subscribe(operation);
        } catch (cause) {
          throw relay(cause);
        }
      };
      return new OwnedIterator({ open, mask: relay, signal: undefined });
    },
  };
}

/** Opens a connection that holds one connection for each sibling. */
function openSiblings<TAsked extends Spec>(
  surface: Surface<TAsked>,
  links: Links,
  report: FaultReporter,
): Connection<TAsked> {
  const scope = new Scope(`the connections to the siblings of surface "${surface.name}"`);
  const channels = new Map<string, SurfaceChannel>();
  for (const [segment, sibling] of linkedSiblings(surface, links)) {
    const link = links.get(segment);
    if (link === undefined) continue;
    const onUnreachable = (cause: unknown): void =>
      void internalError(cause, `reaching surface "${sibling.name}"`, report);
    const held = new ReconnectingSurface({ link, surface: sibling, onUnreachable, outlivesLink: true });
    scope.add(() => held.close());
    channels.set(segment, relaying(held.channel));
  }
  const channel = createSiblingChannel(channels);
  const ending = new ConnectionEnd();
  scope.add(() => ending.end({ kind: "closed" }));
  const { state, closed } = ending;
  return Object.freeze({ client: createClient(surface, channel), channel, state, closed, close: () => scope.close() });
}

function keepOne(link: Link, options: KeepOptions, scope: Scope): Link {
  const kept = link.keep?.(options);
  if (kept === undefined) return link;
  scope.add(() => kept.close());
  return kept;
}

function createLink(links: Links, report: FaultReporter): Link {
  return Object.freeze({
    check: (surface: Surface<Spec>) => checkLinks(surface, links),
    async connect<TAsked extends Spec>(surface: Surface<TAsked>) {
      return openSiblings(surface, links, report);
    },
    keep(options: KeepOptions = {}): KeptLink {
      const scope = new Scope("the links to siblings");
      try {
        const kept = new Map([...links].map(([segment, link]) => [segment, keepOne(link, options, scope)]));
        const { onFault } = options;
        const link = createLink(kept, onFault === undefined ? report : toSafeReporter(onFault));
        return Object.freeze({ ...link, close: () => scope.close() });
      } catch (cause) {
        // The author needs this reason, not that of a failed cleanup.
        scope.close().catch(() => {});
        throw cause;
      }
    },
  });
}

const fields: OptionFields<SiblingLinksOptions> = { onFault: callable };

/**
 * Creates a link to a composed surface, over one link for each sibling, which reconnects. While a sibling cannot be reached its members
 * answer `UNAVAILABLE`, and the others work. The members of a live surface of this process that was closed answer `DROPPED`.
 *
 * @param links - the links, by the segments of the surface.
 * @throws SurfaceError `INVALID_OPTION` for a value that is not a link, `INVALID_NAME` for a segment. From `connect()`: `CONTRACT_MISMATCH`
 * for a surface that is not composed, or has a sibling without a link; `UNKNOWN_MEMBER` for a link without a sibling.
 * @example
 * ```ts
 * const app = mcp(composeSurfaces("ci", { pipeline, notes })).bridge(
 *   siblingLinks({ pipeline: unixSocket(path), notes: inProcess(liveNotes) }),
 * );
 * ```
 */
export function siblingLinks(links: Readonly<Record<string, Link>>, options: SiblingLinksOptions = {}): Link {
  const doing = "Cannot link siblings";
  const { onFault = reportToConsole } = readOptions(options, fields, doing);
  for (const [segment, link] of Object.entries(links)) {
    assertSegment(segment, doing);
    if (typeof link?.connect === "function") continue;
    throw new SurfaceError("INVALID_OPTION", `${doing}: "${segment}" must be a link, for example inProcess(live)`);
  }
  return createLink(new Map(Object.entries(links)), toSafeReporter(onFault));
}

/** An opened link, and the clients of all surfaces that it reaches. The caller closes it. */
export interface SurfaceClients<TSiblings> extends Pick<Connection<unknown>, "state" | "closed" | "leaving" | "close"> {
  /** The clients, by the keys of the surfaces. */
  readonly clients: {
    readonly [Segment in keyof TSiblings]: TSiblings[Segment] extends { readonly members: infer Members }
      ? SurfaceClient<Members>
      : never;
  };
}

function channelOf(channel: SurfaceChannel, segment: string): SurfaceChannel {
  const as = channel.as?.bind(channel);
  return {
    request: (operation) => channel.request(withMember(operation, `${segment}.${operation.member}`)),
    subscribe: (operation) => channel.subscribe(withMember(operation, `${segment}.${operation.member}`)),
    ...(as === undefined ? {} : { as: (to) => channelOf(as(to), segment) }),
  };
}

/**
 * Connects to several surfaces that are served together (`implementSurfaces()`), over one connection, which does not reconnect.
 * A surface that is dropped answers `DROPPED`; the others go on.
 *
 * @throws SurfaceError the errors of the link's `connect()`; `UNKNOWN_MEMBER` if none of the surfaces is there. Members of a
 * missing surface fail with `CONTRACT_MISMATCH` when they are used, or at once if the link knows.
 * @example
 * ```ts
 * const { clients, close } = await surfaceClients(unixSocket(path), { pipeline, notes });
 * await clients.notes.list.keys();
 * await close();
 * ```
 */
export async function surfaceClients<const $Siblings extends Readonly<Record<string, Surface<Spec>>>>(
  link: Link,
  siblings: $Siblings & LiteralKeys<$Siblings>,
  options: UseOptions = {},
): Promise<SurfaceClients<$Siblings>> {
  // The keys of the composed surface are private to this function.
  const composed = composeSurfaces<Readonly<Record<string, Surface<Spec>>>>("siblings", siblings);
  const connection = await link.connect(composed, options);
  const { channel, state, closed, leaving } = connection;
  const clients: Record<string, unknown> = {};
  for (const [segment, sibling] of Object.entries<Surface<Spec>>(siblings)) {
    clients[segment] = createClient(sibling, channelOf(channel, segment));
  }
  return Object.freeze({
    // Each key has the client of the surface of that key, as the mapped type says.
    clients: Object.freeze(clients) as SurfaceClients<$Siblings>["clients"],
    state,
    closed,
    ...(leaving === undefined ? {} : { leaving }),
    close: () => connection.close(),
  });
}
