import { assert, constantFrom, nat, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compareExposures } from "../../src/lock/compare-exposures.ts";
import { viewedSections, type AppExposure } from "../../src/lock/exposure.ts";
import { parseLockfile, toLockfileText } from "../../src/lock/lockfile.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import type { Member } from "../../src/surface/member.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { randomSurface, type RandomMember, type RandomSurface } from "../properties/random-surface.ts";
import { exposureOf, toLine, type Sample } from "./support.ts";

const text = z.string();

/** A member that may have a description. */
interface LockedMember extends RandomMember {
  readonly description?: string;
}

function define({ kind, hasInput, description }: LockedMember): Member {
  const words = description === undefined ? {} : { description };
  const asked = { ...words, ...(hasInput ? { input: z.object({ value: text }) } : {}) };
  if (kind === "cell") return cell({ schema: text, ...words });
  if (kind === "collection") return collection({ key: text, schema: text, ...words });
  if (kind === "stream") return stream({ ...asked, output: text });
  return kind === "event" ? event({ ...asked, output: text }) : procedure({ ...asked, output: text });
}

function toolOptions({ kind, reads, scopes }: RandomMember): object {
  return kind === "procedure" ? { mutates: !reads, scopes } : { scopes };
}

function tag(member: LockedMember): Member {
  const plain = define(member);
  const { shown, by, kind, lists, scopes } = member;
  if (shown === "none" || by === "map") return plain;
  // The draw is legal for the kind.
  if (shown === "tool") return mcpTool(plain as never, toolOptions(member) as never);
  // As above.
  return mcpResource(plain as never, { scopes, ...(kind === "collection" ? { listItems: lists } : {}) });
}

function sampleOf({ members, written, pull }: RandomSurface): Sample {
  const mapped = members.filter(({ shown, by }) => shown !== "none" && by === "map");
  const expose = mapped.map((each) => [each.key, each.shown === "tool" ? { tool: toolOptions(each) } : "resource"]);
  const tools = written.filter(({ sort }) => sort === "tool");
  const prompts = written.filter(({ sort }) => sort === "prompt");
  return {
    members: Object.fromEntries(members.map((member) => [member.key, tag(member)])),
    expose: Object.fromEntries(expose),
    tools: Object.fromEntries(
      tools.map(({ name, reads, scopes }) => [name, { mutates: !reads, scopes, handler: () => ({}) }]),
    ),
    prompts: Object.fromEntries(prompts.map(({ name, scopes }) => [name, { scopes, handler: () => "hi" }])),
    pull,
  };
}

/** A change of one member, and the ends of the lines of its differences. */
interface Mutation {
  readonly change: (member: RandomMember) => LockedMember | undefined;
  /** The axes before the line of each entry, and what follows its name. */
  readonly there: readonly [axes: string, end: string];
  readonly back: readonly [axes: string, end: string];
}

const hasScopes = ({ shown, by }: RandomMember): boolean => shown === "tool" || (shown === "resource" && by === "tag");

const mutations: readonly Mutation[] = [
  {
    change: (member) => (member.shown === "none" ? undefined : { ...member, shown: "none", scopes: [], lists: false }),
    there: ["narrows, breaking", "removed"],
    back: ["widens, compatible", "added"],
  },
  {
    change: (member) => (member.shown === "none" ? undefined : { ...member, description: "Another text." }),
    there: ["widens, compatible", "changed description"],
    back: ["widens, compatible", "changed description"],
  },
  {
    change: (member) => (hasScopes(member) ? { ...member, scopes: [...member.scopes, "more"] } : undefined),
    there: ["narrows, breaking", "changed scopes"],
    back: ["widens, compatible", "changed scopes"],
  },
  {
    change: (member) =>
      member.kind === "procedure" && member.shown === "tool" && member.reads ? { ...member, reads: false } : undefined,
    there: ["widens, compatible", "changed hints"],
    back: ["narrows, compatible", "changed hints"],
  },
];

function entriesOf(exposure: AppExposure, id: string): readonly string[] {
  return viewedSections.flatMap((section) =>
    Object.entries(exposure[section])
      // A hand-written entry may have the key of a member of another sort.
      .filter(([, fields]) => fields["id"] === id && fields["from"] !== "hand")
      .map(([name]) => `${section} ${name}`),
  );
}

describe("the lockfile of a random surface", () => {
  it("names exactly the change of one member, with the right axes, in both directions", () => {
    let tried = 0;
    assert(
      property(randomSurface, nat(), constantFrom(...mutations), (surface, place, { change, there, back }) => {
        const index = place % surface.members.length;
        const member = surface.members[index];
        const changed = member && change(member);
        if (member === undefined || changed === undefined) return;
        tried += 1;
        const before = exposureOf(sampleOf(surface));
        const after = exposureOf(sampleOf({ ...surface, members: surface.members.with(index, changed) }));
        const expected = ([axes, end]: readonly [string, string]): readonly string[] =>
          entriesOf(before, member.key).map((entry) => `${axes}: ${entry} ${end}`);
        expect(compareExposures(before, after).map(toLine)).toEqual(expected(there));
        expect(compareExposures(after, before).map(toLine)).toEqual(expected(back));
      }),
      { numRuns: 400, seed: 20_261_124 },
    );
    expect(tried).toBeGreaterThan(100);
  });

  it("is the same text in any order of declarations, and is read as it was written", () => {
    assert(
      property(randomSurface, (surface) => {
        const exposure = exposureOf(sampleOf(surface));
        const turned = { ...surface, members: surface.members.toReversed(), written: surface.written.toReversed() };
        const locked = toLockfileText(exposure);
        expect(toLockfileText(exposureOf(sampleOf(turned)))).toBe(locked);
        expect(parseLockfile(locked)).toEqual(exposure);
      }),
      { numRuns: 100, seed: 20_261_124 },
    );
  });
});
