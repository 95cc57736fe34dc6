import type { OneOf, ViewRule, ViewVerdict } from "../../src/index.ts";
import { idOf, type RandomThing, type RandomWorld } from "./views-world.ts";

// Who sees what, said once more in the plainest words: what is under test decides by none of this.

function fitsText(text: string, pattern: string): boolean {
  const [first] = pattern;
  if (first === undefined) return text === "";
  const rest = pattern.slice(1);
  if (first === "*") return fitsText(text, rest) || (text !== "" && fitsText(text.slice(1), pattern));
  return text !== "" && (first === "?" || first === text[0]) && fitsText(text.slice(1), rest);
}

function spellingsOf(thing: RandomThing): readonly string[] {
  const names = [idOf(thing), idOf(thing).replaceAll(".", "_")];
  const isTool = thing.sort === "tool" || thing.sort === "operation";
  return isTool
    ? names.flatMap((name) => [name, `mcp__world__${name}`, `mcp__world__.${name}`, `world(${name})`])
    : names;
}

function fitsOne(thing: RandomThing, patterns: readonly string[] = []): boolean {
  return patterns.some((pattern) => spellingsOf(thing).some((name) => fitsText(name, pattern)));
}

function isOneOf(value: string | undefined, wanted: OneOf | undefined): boolean {
  return wanted === undefined || (value !== undefined && [wanted].flat().includes(value));
}

function isFor({ when = {} }: ViewRule, { surface, project, granted }: RandomWorld): boolean {
  return (
    isOneOf(surface, when.surface) &&
    isOneOf(project, when.project) &&
    isOneOf(granted && "ann", when.principal) &&
    isOneOf("scenario", when.client?.name)
  );
}

/** What is decided of who comes. */
export function verdictOf(world: RandomWorld): ViewVerdict {
  const rule = world.rules.find((each) => isFor(each, world));
  if (rule !== undefined) return rule.verdict;
  // A source that has no rules to give lets nobody in.
  if (world.rules.length === 0) return { kind: "deny", reason: "the view rules cannot be read" };
  return world.surface === "default" ? { kind: "tool_surface" } : { kind: "deny", reason: "unknown MCP surface" };
}

function isChange({ sort, reads }: RandomThing): boolean {
  return (sort === "tool" || sort === "operation") && !reads;
}

function isInView(world: RandomWorld, thing: RandomThing): boolean {
  const verdict = verdictOf(world);
  if (verdict.kind === "deny" || fitsOne(thing, verdict.disallow)) return false;
  const { allow = [], readOnly = false } = verdict;
  return (allow.length === 0 || fitsOne(thing, allow)) && !(readOnly && isChange(thing));
}

/** Whether it can be had at all, whatever somebody is granted besides: by the view, and on the things that they may act on. */
function isThere(world: RandomWorld, thing: RandomThing): boolean {
  const { resource } = thing;
  const actions = world.granted?.resources?.["repo:web"] ?? [];
  const mayAct = resource === undefined || actions.includes(resource.action);
  return mayAct && isInView(world, thing) && !(thing.sort === "operation" && thing.isInternal);
}

function isGranted(scopes: readonly string[], isKnown: boolean, thing: RandomThing): boolean {
  const byDefault = isChange(thing) ? "world:write" : "world:read";
  const needed = [...(isKnown ? [byDefault] : []), ...(thing.scopes ?? [])];
  const { scopesAny = scopes } = thing;
  return (
    needed.every((scope) => scopes.includes(scope)) &&
    (scopesAny === scopes || scopesAny.some((scope) => scopes.includes(scope)))
  );
}

/** What becomes of somebody who asks for it: it is theirs, they could be granted it, or it is not there for them. */
export function standingOf(world: RandomWorld, thing: RandomThing): "theirs" | "grantable" | "none" {
  const { granted } = world;
  if (!isThere(world, thing)) return "none";
  if (isGranted(granted?.scopes ?? [], granted !== undefined, thing)) return "theirs";
  return granted === undefined ? "none" : "grantable";
}
