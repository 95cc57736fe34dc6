import { Refusal, SurfaceError } from "../../errors.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../../schema/json.ts";
import { type FaultReporter, internalError, maskFault } from "../../surface/fault.ts";
import type { Member } from "../../surface/member.ts";
import type { AskedSurface, ReachedSurface } from "../reach-surface.ts";
import { toContract } from "./contract.ts";
import { type MemberCodec, type Verb, toMemberCodec } from "./member-codec.ts";
import { type PartCodec, toPartCodec } from "./part-codec.ts";
import type { RpcError } from "./protocol.ts";
import { isCrossing, toErrorAnswer, toRefusalAnswer } from "./wire-fault.ts";
import type { SurfaceChannel } from "../../surface/channel.ts";

/** Returns the same text for the same surface. */
function toIdentity({ name, segments }: AskedSurface): string {
  return JSON.stringify([name, [...(segments ?? [])].toSorted(([left], [right]) => (left < right ? -1 : 1))]);
}

/** The surface of a peer that has said hello. */
export class Greeted {
  readonly #identity: string;
  readonly channel: SurfaceChannel;
  readonly members: ServedMembers;

  constructor(asked: AskedSurface, reached: ReachedSurface, report: FaultReporter) {
    this.#identity = toIdentity(asked);
    this.channel = reached.channel;
    this.members = new ServedMembers(reached, report);
  }

  /** Returns whether a further hello asks for the same surface: a connection has one. */
  isFor(asked: AskedSurface): boolean {
    return toIdentity(asked) === this.#identity;
  }

  /** Returns the result of a describe request; `undefined` for invalid params. */
  describe(params: unknown): JsonObject | undefined {
    const names = readNames(params);
    return names === undefined ? undefined : { members: this.members.shapes(names) };
  }
}

/** The codecs of a member and of one of its verbs. */
export interface ServedMember {
  readonly codec: MemberCodec;
  /** The codec of the verb. */
  readonly answer: PartCodec;
}

/** Most members of a describe request, duplicates included. */
const maxNames = 10_000;

/** The members of a live surface, for one peer. */
export class ServedMembers {
  readonly #reached: Pick<ReachedSurface, "member">;
  readonly #report: FaultReporter;

  constructor(reached: Pick<ReachedSurface, "member">, report: FaultReporter) {
    this.#reached = reached;
    this.#report = report;
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

  /** Returns the shapes of the members that exist and have a JSON form. */
  shapes(asked: readonly JsonValue[]): JsonObject {
    const shapes: JsonObject = {};
    for (const key of new Set(asked)) {
      const member = typeof key === "string" ? this.#reached.member(key) : undefined;
      if (member !== undefined && typeof key === "string") Object.assign(shapes, toShape(member, key));
    }
    return shapes;
  }

  /**
   * Returns the codecs of a member and a verb.
   *
   * @throws SurfaceError `UNKNOWN_MEMBER`, `WRONG_KIND` or `SCHEMA_UNSUPPORTED`.
   */
  find(key: string, verb: Verb): ServedMember {
    const member = this.#reached.member(key);
    if (member === undefined) throw new SurfaceError("UNKNOWN_MEMBER", "Serving a use: there is no such member");
    const codec = toMemberCodec(member, key);
    const answer = codec.answer(verb);
    if (answer === undefined) throw new SurfaceError("WRONG_KIND", `Serving a use: a ${member.kind} has no "${verb}"`);
    return { codec, answer };
  }

  /** Returns the answer of a failed request. Never throws. */
  toAnswer(cause: unknown, key: string): RpcError {
    const where = `member "${key}"`;
    try {
      const masked = this.#toCrossing(cause, where);
      return masked instanceof Refusal ? this.#toRefusal(masked, key) : toErrorAnswer(masked);
    } catch (fault) {
      return toErrorAnswer(internalError(fault, where, this.#report));
    }
  }

  #toCrossing(cause: unknown, where: string): SurfaceError | Refusal {
    if (!(cause instanceof SurfaceError) || !isCrossing(cause)) return maskFault(cause, where, this.#report);
    if (cause.code !== "UNSERIALISABLE") return cause;
    // Only the author can fix it: the fault in the log says what it was.
    const { correlationId = "" } = internalError(cause, where, this.#report);
    return new SurfaceError("UNSERIALISABLE", "Answering: the value has no JSON form", { correlationId });
  }

  #toRefusal(refusal: Refusal, key: string): RpcError {
    return toRefusalAnswer(refusal, this.#encodeDetails(refusal, key));
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

/** Reads the names of a describe request; `undefined` for invalid or too many ones. */
function readNames(params: unknown): readonly JsonValue[] | undefined {
  const members = isJsonObject(params) ? params["members"] : undefined;
  return Array.isArray(members) && members.length <= maxNames ? members : undefined;
}
