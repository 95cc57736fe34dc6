import type { JsonValue } from "../../src/schema/json.ts";
import { differences } from "./differences.ts";
import type { TestedTransport, OpenTransport } from "./tested-transport.ts";
import type { Exposure, Found } from "./exposure.ts";
import { readScope, surfaceName, wireNameOf, type RandomSurface } from "./random-surface.ts";

/** What lists are compared by. */
interface Listing {
  readonly door: TestedTransport;
  readonly open: OpenTransport;
  readonly ran: Set<string>;
  readonly ambient: ReadonlySet<string>;
  readonly surface: RandomSurface;
  readonly exposure: Exposure;
}

function named(items: JsonValue | undefined, field: string): ReadonlySet<string> {
  return new Set(Array.isArray(items) ? items.map((item) => String(Reflect.get(Object(item), field))) : []);
}

const uriOf = (name: string): string => `surface://${surfaceName}/${name}`;

/** Whether the caller may read what is of one name. */
type MayRead = (of: { readonly scopes: readonly string[] }) => boolean;

function mayReadBy(exposure: Exposure): MayRead {
  return ({ scopes }) => exposure.grants({ scopes: [readScope, ...scopes] });
}

function resourcesOf({ members, written }: RandomSurface, exposure: Exposure): readonly string[] {
  const listed = new Set(exposure.listedKeys);
  const may = mayReadBy(exposure);
  return [
    ...members.filter(may).flatMap(({ key, kind, shown, hasInput }) => {
      if (shown !== "resource" || (hasInput && kind !== "collection")) return [];
      return [uriOf(key), ...(listed.has(key) ? [`${uriOf(key)}/a`] : [])];
    }),
    ...written
      .filter(may)
      .filter(({ sort, hasInput }) => sort === "resource" && !hasInput)
      .map(({ name }) => uriOf(name)),
  ];
}

function templatesOf({ members, written }: RandomSurface, exposure: Exposure): readonly string[] {
  const may = mayReadBy(exposure);
  return [
    ...members.filter(may).flatMap(({ key, kind, shown, hasInput }) => {
      if (shown !== "resource") return [];
      if (kind === "collection") return [`${uriOf(key)}/{key}`];
      return hasInput ? [`${uriOf(key)}/{value}`] : [];
    }),
    ...written
      .filter(may)
      .filter(({ sort, hasInput }) => sort === "resource" && hasInput)
      .map(({ name }) => `${uriOf(name)}/{value}`),
  ];
}

function toolsOf({ members, written, pull }: RandomSurface, exposure: Exposure): readonly string[] {
  const names = [
    ...members.filter(({ shown }) => shown === "tool").map(({ key }) => wireNameOf(key)),
    ...written.filter(({ sort }) => sort === "tool").map(({ name }) => wireNameOf(name)),
    ...(pull ? ["read_resource", "wait_for_change"] : []),
  ];
  return names.filter((name) => isGranted(exposure.tool(name), exposure));
}

function promptsOf({ written }: RandomSurface, exposure: Exposure): readonly string[] {
  const names = written.filter(({ sort }) => sort === "prompt").map(({ name }) => wireNameOf(name));
  return names.filter((name) => isGranted(exposure.prompt(name), exposure));
}

function isGranted(found: Found | undefined, exposure: Exposure): boolean {
  return found !== undefined && exposure.grants(found);
}

/** Whether what an app lists is what it exposes and its caller was granted, and listing runs nothing but what is listed because it is there. */
export async function checkLists({ door, open, ran, ambient, surface, exposure }: Listing): Promise<readonly string[]> {
  ran.clear();
  const lists: readonly (readonly [string, string, string, readonly string[]])[] = [
    ["tools/list", "tools", "name", toolsOf(surface, exposure)],
    ["resources/list", "resources", "uri", resourcesOf(surface, exposure)],
    ["resources/templates/list", "resourceTemplates", "uriTemplate", templatesOf(surface, exposure)],
    ["prompts/list", "prompts", "name", promptsOf(surface, exposure)],
  ];
  const wrong: string[] = [];
  for (const [method, key, field, expected] of lists) {
    const { result } = await open.ask(method, {});
    wrong.push(...differences(`${door.name}, ${method}`, named(result?.[key], field), new Set(expected)));
  }
  const allowed = [...ran].filter((operation) => ambient.has(operation));
  return [...wrong, ...differences(`${door.name}, lists`, ran, new Set(allowed))];
}
