import { createHash } from "node:crypto";
import { isCompatible, shownShape } from "../../schema/compare-shapes.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import { canonicalText } from "../../schema/json.ts";
import type { JsonSchema } from "../../schema/json.ts";
import { toContractShape } from "../../schema/reader-schema.ts";
import type { Member } from "../../surface/member.ts";
import { toMemberSchemas } from "./member-schemas.ts";
import type { MemberShape } from "./protocol.ts";

/** What a member promises to whoever uses it over a link, and the hash by which two of them are compared. */
export interface Contract extends MemberShape {
  readonly hash: string;
}

function toParts(member: Member, key: string): Record<string, JsonSchema> {
  const { errors, ...schemas } = toMemberSchemas(member, key);
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
 * The contract of a member: its schemas without what is only words. Made once a member.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` when one of its schemas has no JSON form.
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

/** What one side promises and the other does not take. */
export interface Difference {
  readonly part: string;
  /** Where the two shapes of that part part, dotted; empty at the root. */
  readonly path: string;
  /** The shape of this side, clipped to be read; `none` where there is none. */
  readonly asked: string;
  /** The shape of the far side. */
  readonly live: string;
}

const maxShapeBytes = 240;

function toShown(shape: JsonSchema | undefined): string {
  return shape === undefined ? "none" : shownShape(shape, maxShapeBytes);
}

/** Parts that may be there on one side only: nobody depends on them. */
function isLoose(part: string): boolean {
  return part === "progress" || part.startsWith("errors.");
}

function compare(part: string, asked: JsonSchema | undefined, live: JsonSchema | undefined): string | undefined {
  if (asked === undefined || live === undefined) return isLoose(part) ? undefined : "";
  // An argument flows from here to there, everything else from there to here.
  const found =
    part === "argument"
      ? isCompatible({ producer: asked, consumer: live, side: "input" })
      : isCompatible({ producer: live, consumer: asked });
  return found === true ? undefined : found;
}

/** The first part in which a contract of the far side does not serve for one of this side. Kinds are the same. */
export function findDifference(asked: MemberShape, live: MemberShape): Difference | undefined {
  const at = (shape: MemberShape, part: string): JsonSchema | undefined =>
    Object.hasOwn(shape.parts, part) ? shape.parts[part] : undefined;
  for (const part of new Set([...Object.keys(asked.parts), ...Object.keys(live.parts)])) {
    const [ours, theirs] = [at(asked, part), at(live, part)];
    const path = compare(part, ours, theirs);
    if (path !== undefined) return { part, path, asked: toShown(ours), live: toShown(theirs) };
  }
  return undefined;
}
