import type { JsonObject, JsonSchema } from "../../schema/json.ts";
import type { Kind } from "../../surface/member.ts";

/** The version of the protocol that this package speaks. There is no other yet. */
export const protocolVersion = 1;

const methodNames = {
  hello: "surface/hello",
  describe: "surface/describe",
  ask: "surface/ask",
  follow: "surface/follow",
  item: "surface/item",
  credit: "surface/credit",
  progress: "surface/progress",
  ping: "surface/ping",
  goodbye: "surface/goodbye",
} as const;

/** Every message of the protocol, by its JSON-RPC method. Cancelling is JSON-RPC's own `$/cancelRequest`. */
export const methods: Readonly<typeof methodNames> = Object.freeze(methodNames);

const codes = {
  methodNotFound: -32601,
  invalidParams: -32602,
  /** `data` says what failed. */
  failed: -32000,
  /** Nobody has looked at the request: its receiver has said goodbye. */
  notTaken: -32001,
} as const;

/** JSON-RPC error codes of the protocol; the first two are JSON-RPC's own. */
export const errorCodes: Readonly<typeof codes> = Object.freeze(codes);

/** The error of a request, as it travels. */
export class RpcError {
  readonly code: number;
  readonly message: string;
  /** Left out where there is none. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    this.code = code;
    this.message = message;
    this.data = data;
  }
}

/** How many items of a stream may be under way: an `open` is read ahead, everything else is to be the newest. */
export const streamWindow = 32;

/** How many items of anything but an `open` may be under way. */
export const newestWindow = 1;

/** More credit than this is not kept for a stream, whatever its consumer grants. */
export const maxCredit = 1024;

/** How many uses that are answered once a server has under way for one peer. */
export const maxAsks = 1024;

/** How many streams it has under way besides: whoever watches much still has room to ask. */
export const maxStreams = 4096;

/** How long whoever said goodbye, or heard it, waits for what is under way, in milliseconds. */
export const goodbyeMs = 5000;

/** How long a peer that says nothing is waited for at the start, in milliseconds. */
export const defaultHandshakeMs = 5000;

/** How long nothing is heard before a peer is asked whether it is there, in milliseconds. */
export const defaultHeartbeatMs = 5000;

/** The shapes of one member's schemas, by part: what its digest is made of. */
export interface MemberShape {
  readonly kind: Kind;
  readonly parts: Readonly<Record<string, JsonSchema>>;
}

/** A value on the wire: `{ value }`, or `{}` for undefined. */
export type Part = JsonObject;
