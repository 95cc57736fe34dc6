import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient, UseOptions } from "../surface/client.ts";
import { composeSurfaces } from "../surface/compose-surfaces.ts";
import { createClient } from "../surface/create-client.ts";
import type { LiteralKeys, Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Connection, Link } from "./link.ts";
import { withMember } from "./sibling-channel.ts";

/** One opened link, and the clients of all surfaces that it reaches. Whoever opened it closes it. */
export interface SurfaceClients<TSiblings> extends Pick<Connection<unknown>, "state" | "closed" | "leaving" | "close"> {
  /** A client a surface, by the names under which they were asked for. */
  readonly clients: {
    readonly [Segment in keyof TSiblings]: TSiblings[Segment] extends { readonly members: infer Members }
      ? SurfaceClient<Members>
      : never;
  };
}

/** Returns a sibling's own channel: that of all, with the sibling's segment put before each key. */
function toSiblingChannel(channel: SurfaceChannel, segment: string): SurfaceChannel {
  const as = channel.as?.bind(channel);
  return {
    request: (operation) => channel.request(withMember(operation, `${segment}.${operation.member}`)),
    subscribe: (operation) => channel.subscribe(withMember(operation, `${segment}.${operation.member}`)),
    ...(as === undefined ? {} : { as: (to) => toSiblingChannel(as(to), segment) }),
  };
}

/**
 * Connects to several surfaces that are served together (`implementSurfaces()`), over one connection. As any connection it
 * is opened once, and never again. One that was dropped meanwhile answers `DROPPED`; the others go on.
 *
 * @throws SurfaceError what the link's `connect()` throws; `UNKNOWN_MEMBER` where none of them is there. Of some that are
 * not there the members are refused with `CONTRACT_MISMATCH`: when they are used, and at once where a link knows.
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
  // They are known already: here it does not matter by which keys.
  const composed = composeSurfaces<Readonly<Record<string, Surface<Spec>>>>("siblings", siblings);
  const connection = await link.connect(composed, options);
  const { channel, state, closed, leaving } = connection;
  const clients: Record<string, unknown> = {};
  for (const [segment, sibling] of Object.entries<Surface<Spec>>(siblings)) {
    clients[segment] = createClient(sibling, toSiblingChannel(channel, segment));
  }
  return Object.freeze({
    // Each was given the client of its own surface, which is what the mapped type says.
    clients: Object.freeze(clients) as SurfaceClients<$Siblings>["clients"],
    state,
    closed,
    ...(leaving === undefined ? {} : { leaving }),
    close: () => connection.close(),
  });
}
