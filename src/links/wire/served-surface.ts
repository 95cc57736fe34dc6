import { Refusal, SurfaceError } from "../../errors.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../../schema/json.ts";
import type { SurfaceChannel } from "../../surface/channel.ts";
import { type FaultReporter, internalError, maskFault } from "../../surface/fault.ts";
import type { Member } from "../../surface/member.ts";
import type { SurfaceAddress, ReachedSurface } from "../reach-surface.ts";
import { toContract } from "./contract.ts";
import { toMemberCodec, toPartCodec, type MemberCodec, type PartCodec, type Verb } from "./member-codec.ts";
import { isCrossing, toErrorResponse, toRefusalResponse, type WireError } from "./protocol.ts";

/** Returns the same text for the same surface. */
function toIdentity({ name, segments }: SurfaceAddress): string {
  return JSON.stringify([name, [...(segments ?? [])].toSorted(([left], [right]) => (left < right ? -1 : 1))]);
}

/** The codecs of a member and of one of its verbs. */
export interface ServedMemberCodec {
  readonly codec: MemberCodec;
  /** The codec of the verb. */
  readonly answer: PartCodec;
}

/** Most members of a describe request, duplicates included. */
const maxNames = 10_000;

/** The surface of one peer, which it has named in its hello. */
export class ServedSurface {
  readonly #identity: string;
  readonly #reached: ReachedSurface;
  readonly #report: FaultReporter;
  readonly channel: SurfaceChannel;

  constructor(asked: SurfaceAddress, reached: ReachedSurface, report: FaultReporter) {
    this.#identity = toIdentity(asked);
    this.#reached = reached;
    this.#report = report;
    this.channel = reached.channel;
  }

  /** Returns whether a further hello names the same surface: a connection has one. */
  isFor(asked: SurfaceAddress): boolean {
    return toIdentity(asked) === this.#identity;
  }

  /** Returns the digests of the members that exist. */
  digests(asked: JsonObject): JsonObject {
    const digests: JsonObject = {};
    for (const key of Object.keys(asked)) {
      const member = this.#reached.member(key);
      if (member !== undefined) digests[key] = toDigest(member, key);
    }
    return digests;
  }

  /** Returns the result of a describe request: the members that exist and have a JSON form. `undefined` for invalid params. */
  describe(params: unknown): JsonObject | undefined {
    const names = isJsonObject(params) ? params["members"] : undefined;
    if (!Array.isArray(names) || names.length > maxNames) return undefined;
    const members: JsonObject = {};
    for (const key of new Set(names)) {
      const member = typeof key === "string" ? this.#reached.member(key) : undefined;
      if (member !== undefined && typeof key === "string") Object.assign(members, toShape(member, key));
    }
    return { members };
  }

  /**
   * Returns the codecs of a member and a verb.
   *
   * @throws SurfaceError `UNKNOWN_MEMBER`, `WRONG_KIND` or `SCHEMA_UNSUPPORTED`.
   */
  find(key: string, verb: Verb): ServedMemberCodec {
    const member = this.#reached.member(key);
    if (member === undefined)
      throw new SurfaceError("UNKNOWN_MEMBER", "Cannot serve an operation: there is no such member");
    const codec = toMemberCodec(member, key);
    const answer = codec.answer(verb);
    if (answer === undefined)
      throw new SurfaceError("WRONG_KIND", `Cannot serve an operation: a ${member.kind} has no "${verb}"`);
    return { codec, answer };
  }

  /** Returns the answer of a failed request. Never throws. */
  toAnswer(cause: unknown, key: string): WireError {
    const where = `member "${key}"`;
    try {
      const masked = this.#toCrossing(cause, where);
      if (!(masked instanceof Refusal)) return toErrorResponse(masked);
      return toRefusalResponse(masked, this.#encodeDetails(masked, key));
    } catch (fault) {
      return toErrorResponse(internalError(fault, where, this.#report));
    }
  }

  #toCrossing(cause: unknown, where: string): SurfaceError | Refusal {
    if (!(cause instanceof SurfaceError) || !isCrossing(cause)) return maskFault(cause, where, this.#report);
    if (cause.code !== "UNSERIALISABLE") return cause;
    // Only the author can fix it: the log has the fault.
    const { correlationId = "" } = internalError(cause, where, this.#report);
    return new SurfaceError("UNSERIALISABLE", "Cannot answer: the value has no JSON form", { correlationId });
  }

  #encodeDetails({ code, details }: Refusal, key: string): JsonValue | undefined {
    const member = this.#reached.member(key);
    if (member === undefined || details === undefined) return undefined;
    try {
      return toPartCodec(toMemberCodec(member, key).schemas.errors[code]).encode(details)["value"];
    } catch (fault) {
      // The refusal is sent without its details.
      internalError(fault, `the details of "${code}" of member "${key}"`, this.#report);
      return undefined;
    }
  }
}

function toDigest(member: Member, key: string): JsonObject {
  try {
    return { kind: member.kind, hash: toContract(member, key).hash };
  } catch {
    return { kind: member.kind, hash: null };
  }
}

function toShape(member: Member, key: string): JsonObject {
  try {
    const { kind, parts } = toContract(member, key);
    // Read-only JSON is JSON.
    return { [key]: { kind, parts: parts as JsonObject } };
  } catch {
    return {};
  }
}
