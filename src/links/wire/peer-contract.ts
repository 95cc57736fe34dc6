import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { memberOf, type Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import { findDifference, toContract, type Contract } from "./contract.ts";
import type { MemberShape } from "./protocol.ts";

/** Why a member cannot be used over a connection. */
type Problem = (what: string) => SurfaceError;

const unsupported: Problem = (what) =>
  new SurfaceError("SCHEMA_UNSUPPORTED", `Using ${what}: a schema of the live surface has no JSON form`);

function mismatch(why: string): Problem {
  return (what) => new SurfaceError("CONTRACT_MISMATCH", `Using ${what}: ${why}`);
}

function readShape(given: unknown, kind: Contract["kind"]): MemberShape | undefined {
  if (!isJsonObject(given) || given["kind"] !== kind || !isJsonObject(given["parts"])) return undefined;
  const parts = Object.entries(given["parts"]);
  if (!parts.every(([, shape]) => isJsonObject(shape))) return undefined;
  // Each part has just been seen to be an object.
  return { kind, parts: Object.fromEntries(parts) as Record<string, JsonObject> };
}

/** The contracts of a surface's members, as far as its schemas have a JSON form. */
export function toContracts(surface: Surface<Spec>): ReadonlyMap<string, Contract> {
  const contracts = new Map<string, Contract>();
  for (const [key, member] of Object.entries(surface.members)) {
    try {
      contracts.set(key, toContract(member, key));
    } catch {
      // Whoever uses it is told: the others work.
    }
  }
  return contracts;
}

/**
 * Which members of a surface can be used over one connection. One that differs is refused before anything is sent; it
 * does not keep the others from working.
 */
export class PeerContract {
  readonly #surface: Surface<Spec>;
  readonly #contracts: ReadonlyMap<string, Contract>;
  readonly #problems = new Map<string, Problem>();

  constructor(surface: Surface<Spec>) {
    this.#surface = surface;
    this.#contracts = toContracts(surface);
  }

  /** What this side says of its members. */
  digests(): JsonObject {
    return Object.fromEntries([...this.#contracts].map(([key, { kind, hash }]) => [key, { kind, hash }]));
  }

  /** Takes what the far side says of its members; returns the keys of those that need a closer look. */
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

  /** Takes the shapes of those that were unclear. */
  describe(unclear: readonly string[], shapes: JsonObject): void {
    for (const key of unclear) {
      const contract = this.#contracts.get(key);
      if (contract === undefined) continue;
      const live = readShape(Object.hasOwn(shapes, key) ? shapes[key] : undefined, contract.kind);
      const problem = live === undefined ? mismatch("the far side does not say what it is") : toProblem(contract, live);
      if (problem !== undefined) this.#problems.set(key, problem);
    }
  }

  /** @throws SurfaceError `CONTRACT_MISMATCH`, `SCHEMA_UNSUPPORTED` or `UNKNOWN_MEMBER` where a member cannot be used. */
  assertUsable(key: string, what: string): void {
    const problem = this.#problems.get(key);
    if (problem !== undefined) throw problem(what);
    if (memberOf(this.#surface, key) !== undefined) return;
    throw new SurfaceError("UNKNOWN_MEMBER", `Using ${what}: the surface has no such member`);
  }
}

function otherKind(asked: Contract, live: unknown): Problem {
  const kinds = ["cell", "collection", "stream", "event", "procedure"];
  const found = typeof live === "string" && kinds.includes(live) ? `a ${live}` : "something else";
  return mismatch(`it must be a ${asked.kind}, and is ${found} of the live surface`);
}

function toProblem(asked: Contract, live: MemberShape): Problem | undefined {
  const found = findDifference(asked, live);
  if (found === undefined) return undefined;
  const at = found.path === "" ? "" : ` at "${found.path}"`;
  return mismatch(
    `"${found.part}" differs${at}: asked for is ${found.asked}, and that of the live surface is ${found.live}`,
  );
}
