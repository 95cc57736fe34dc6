import { createHash } from "node:crypto";
import { SurfaceError } from "../../errors.ts";
import { isCompatible, describeShape } from "../../schema/compare-shapes.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import { canonicalText, isJsonObject, type JsonObject, type JsonSchema } from "../../schema/json.ts";
import { toContractShape } from "../../schema/reader-schema.ts";
import { memberOf, type Surface } from "../../surface/define-surface.ts";
import type { Member, Spec } from "../../surface/member.ts";
import { toMemberCodec } from "./member-codec.ts";
import type { MemberShape } from "./protocol.ts";

/** The shapes of a member, and the hash that compares two of them. */
export interface Contract extends MemberShape {
  readonly hash: string;
}

function toParts(member: Member, key: string): Record<string, JsonSchema> {
  const { errors, ...schemas } = toMemberCodec(member, key).schemas;
  const all: [string, CompiledSchema | undefined][] = [
    ...Object.entries(schemas),
    ...Object.entries(errors).map(([code, schema]): [string, CompiledSchema] => [`errors.${code}`, schema]),
  ];
  const parts: Record<string, JsonSchema> = {};
  for (const [part, schema] of all) if (schema !== undefined) parts[part] = toContractShape(schema);
  return parts;
}

function toText({ kind, parts }: MemberShape): string {
  const lines = Object.keys(parts)
    .toSorted()
    .map((part) => `${part} ${canonicalText(parts[part] ?? {})}\n`);
  return `${kind}\n${lines.join("")}`;
}

const known = new WeakMap<Member, Contract>();

/**
 * Returns the contract of a member: its schemas without titles and descriptions. Computed once for each member.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` if one of its schemas has no JSON form.
 */
export function toContract(member: Member, key: string): Contract {
  let contract = known.get(member);
  if (contract === undefined) {
    const shape: MemberShape = { kind: member.kind, parts: toParts(member, key) };
    contract = { ...shape, hash: createHash("sha256").update(toText(shape)).digest("hex") };
    known.set(member, contract);
  }
  return contract;
}

const maxShapeBytes = 240;

function toShown(shape: JsonSchema | undefined): string {
  return shape === undefined ? "none" : describeShape(shape, maxShapeBytes);
}

/** Returns whether a part may exist on one side only: no caller depends on it. */
function isLoose(part: string): boolean {
  return part === "progress" || part.startsWith("errors.");
}

/** Returns the dotted path at which two shapes of a part are incompatible, empty for the root; `undefined` if they are compatible. */
function findConflict(part: string, asked: JsonSchema | undefined, live: JsonSchema | undefined): string | undefined {
  if (asked === undefined || live === undefined) return isLoose(part) ? undefined : "";
  // Arguments flow from here to the far side, everything else from the far side to here.
  const found =
    part === "argument"
      ? isCompatible({ producer: asked, consumer: live, side: "input" })
      : isCompatible({ producer: live, consumer: asked });
  return found === true ? undefined : found;
}

/** Returns a sentence on the first part in which the far side is incompatible. Both are of one kind. */
function findDifference(asked: MemberShape, live: MemberShape): string | undefined {
  const at = (shape: MemberShape, part: string): JsonSchema | undefined =>
    Object.hasOwn(shape.parts, part) ? shape.parts[part] : undefined;
  for (const part of new Set([...Object.keys(asked.parts), ...Object.keys(live.parts)])) {
    const [ours, theirs] = [at(asked, part), at(live, part)];
    const path = findConflict(part, ours, theirs);
    if (path === undefined) continue;
    const place = path === "" ? "" : ` at "${path}"`;
    return `"${part}" differs${place}: asked for is ${toShown(ours)}, and that of the live surface is ${toShown(theirs)}`;
  }
  return undefined;
}

/** Creates the error of a member that cannot be used over a connection. */
type Problem = (what: string) => SurfaceError;

const unsupported: Problem = (what) =>
  new SurfaceError("SCHEMA_UNSUPPORTED", `Cannot use ${what}: a schema of the live surface has no JSON form`);

function mismatch(why: string): Problem {
  return (what) => new SurfaceError("CONTRACT_MISMATCH", `Cannot use ${what}: ${why}`);
}

function readShape(given: unknown, kind: Contract["kind"]): MemberShape | undefined {
  if (!isJsonObject(given) || given["kind"] !== kind || !isJsonObject(given["parts"])) return undefined;
  const parts = Object.entries(given["parts"]);
  if (!parts.every(([, shape]) => isJsonObject(shape))) return undefined;
  // The line above checked that each part is an object.
  return { kind, parts: Object.fromEntries(parts) as Record<string, JsonObject> };
}

function toContracts(surface: Surface<Spec>): ReadonlyMap<string, Contract> {
  const contracts = new Map<string, Contract>();
  for (const [key, member] of Object.entries(surface.members)) {
    try {
      contracts.set(key, toContract(member, key));
    } catch {
      // An operation on the member fails with that error. The other members work.
    }
  }
  return contracts;
}

function otherKind(asked: Contract, live: unknown): Problem {
  const kinds = ["cell", "collection", "stream", "event", "procedure"];
  const found = typeof live === "string" && kinds.includes(live) ? `a ${live}` : "something else";
  return mismatch(`it must be a ${asked.kind}, and is ${found} of the live surface`);
}

/** The members of a surface that can be used over one connection. Others are refused before anything is sent. */
export class PeerContract {
  readonly #surface: Surface<Spec>;
  readonly #contracts: ReadonlyMap<string, Contract>;
  readonly #problems = new Map<string, Problem>();

  constructor(surface: Surface<Spec>) {
    this.#surface = surface;
    this.#contracts = toContracts(surface);
  }

  /** Returns the digests of this side's members. */
  digests(): JsonObject {
    return Object.fromEntries([...this.#contracts].map(([key, { kind, hash }]) => [key, { kind, hash }]));
  }

  /** Compares the digests of the far side; returns the keys of members whose shapes are needed. */
  compare(live: JsonObject): string[] {
    const unclear: string[] = [];
    for (const [key, contract] of this.#contracts) {
      const digest = Object.hasOwn(live, key) ? live[key] : undefined;
      if (!isJsonObject(digest)) this.#problems.set(key, mismatch("the live surface has no such member"));
      else if (digest["kind"] !== contract.kind) this.#problems.set(key, otherKind(contract, digest["kind"]));
      else if (digest["hash"] === null) this.#problems.set(key, unsupported);
      else if (digest["hash"] !== contract.hash) unclear.push(key);
    }
    return unclear;
  }

  /** Compares the shapes of unclear members. */
  describe(unclear: readonly string[], shapes: JsonObject): void {
    for (const key of unclear) {
      const contract = this.#contracts.get(key);
      if (contract === undefined) continue;
      const live = readShape(Object.hasOwn(shapes, key) ? shapes[key] : undefined, contract.kind);
      const why = live === undefined ? "the far side did not describe it" : findDifference(contract, live);
      if (why !== undefined) this.#problems.set(key, mismatch(why));
    }
  }

  /**
   * Returns a member.
   *
   * @throws SurfaceError `CONTRACT_MISMATCH`, `SCHEMA_UNSUPPORTED` or `UNKNOWN_MEMBER` if it cannot be used.
   */
  member(key: string, what: string): Member {
    const problem = this.#problems.get(key);
    if (problem !== undefined) throw problem(what);
    const member = memberOf(this.#surface, key);
    if (member !== undefined) return member;
    throw new SurfaceError("UNKNOWN_MEMBER", `Cannot use ${what}: the surface has no such member`);
  }
}
