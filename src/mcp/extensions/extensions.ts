import type { Catalog } from "../../catalog/catalog.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Caller } from "../../surface/caller.ts";
import type { Handlers, OptionalMethod } from "../handlers.ts";
import type { Readable } from "../large-values.ts";
import { ownParam } from "../protocol.ts";
import type { ResolvedView } from "../resolved-view.ts";

/** The MIME type of pages, by which clients declare that they show them. */
export const pageMimeType = "text/html;profile=mcp-app";

function showsPages(settings: JsonObject): boolean {
  const types = ownParam(settings, "mimeTypes");
  return Array.isArray(types) && types.includes(pageMimeType);
}

/** An extension that changes with the client. */
export type ClientExtension = "io.modelcontextprotocol/ui";

/** The settings by which a client declares that it can use each such extension. */
const clientSettings: Readonly<Record<ClientExtension, (settings: JsonObject) => boolean>> = {
  "io.modelcontextprotocol/ui": showsPages,
};

/** All such extensions. */
export const clientExtensionIds: readonly ClientExtension[] = ["io.modelcontextprotocol/ui"];

const none: ReadonlySet<ClientExtension> = new Set();

/** Returns the extensions that a client with these capabilities can use (SEP-2133). Ignores unknown ones and invalid settings. */
export function readClientExtensions(capabilities: unknown): ReadonlySet<ClientExtension> {
  const declared = isJsonObject(capabilities) ? ownParam(capabilities, "extensions") : undefined;
  if (!isJsonObject(declared)) return none;
  const usable = clientExtensionIds.filter((id) => {
    const settings = ownParam(declared, id);
    return isJsonObject(settings) && clientSettings[id](settings);
  });
  return usable.length === 0 ? none : new Set(usable);
}

/** A client's view of an app. */
export interface ExtensionClient {
  readonly view: ResolvedView;
  readonly caller: Caller;
  /** The extensions that the client can use. @default none */
  readonly extensions?: ReadonlySet<ClientExtension> | undefined;
}

/** An extension of the protocol that an app serves. */
export interface Extension {
  /** For example `"io.modelcontextprotocol/ui"`. */
  readonly id: string;
  /** Returns the settings to declare to a client, by what its view shows; `undefined` to declare nothing. */
  settings(client: ExtensionClient): JsonObject | undefined;
  /** Further methods. Names of the protocol are not among them. */
  readonly methods?: Partial<Pick<Handlers, OptionalMethod>>;
  /** Returns the tools as they are listed to a client. Returns the same object for the same tools. */
  listed?(catalog: Catalog, client: ExtensionClient): Catalog;
  /** Returns a resource that no list shows, if the view shows it. */
  resource?(uri: string, view: ResolvedView): Readable | undefined;
}

/** Returns the member `extensions` of the capabilities for a client; `undefined` if nothing is declared. */
export function declareExtensions(extensions: readonly Extension[], client: ExtensionClient): JsonObject | undefined {
  const declared = extensions.flatMap((extension): readonly [string, JsonObject][] => {
    const settings = extension.settings(client);
    return settings === undefined ? [] : [[extension.id, settings]];
  });
  return declared.length === 0 ? undefined : Object.fromEntries(declared);
}

/** Returns the methods of all extensions. */
export function extensionMethodsOf(extensions: readonly Extension[]): Partial<Pick<Handlers, OptionalMethod>> {
  return Object.fromEntries(extensions.flatMap(({ methods = {} }) => Object.entries(methods)));
}

/** Returns the tools as they are listed to a client. */
export function listedBy(extensions: readonly Extension[], catalog: Catalog, client: ExtensionClient): Catalog {
  return extensions.reduce((listed, extension) => extension.listed?.(listed, client) ?? listed, catalog);
}

/** Returns a resource of an extension, if the view shows it. */
export function findExtended(extensions: readonly Extension[], uri: string, view: ResolvedView): Readable | undefined {
  for (const extension of extensions) {
    const found = extension.resource?.(uri, view);
    if (found !== undefined) return found;
  }
  return undefined;
}
