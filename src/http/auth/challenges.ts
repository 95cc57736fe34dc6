import type { CatalogScopes } from "../../catalog/entry-scopes.ts";
import type { HttpAnswer } from "../message.ts";
import type { HttpAuth } from "./http-auth.ts";

const wellKnown = "/.well-known/oauth-protected-resource";

/** A scope of a client's own dealings with its issuer, which no resource has a use for. */
const notOurs = "offline_access";

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** A path as it stands behind another; nothing for the root. */
function toTail(path: string): string {
  return path === "/" ? "" : path;
}

/** What clients are told of how to be let in: challenges (RFC 6750), and the metadata that those lead to (RFC 9728). */
export class Challenges {
  /**
   * The paths of the metadata: under the resource's path, under the server's own where a proxy has changed it, and at the root.
   * Empty without authorization servers: metadata that names none sends clients into an OAuth flow that cannot succeed.
   */
  readonly paths: readonly string[];
  readonly #url: string | undefined;
  readonly #door: readonly string[];
  readonly #document: string;

  /** @param path - where the server itself is served. */
  constructor(
    { resource, scopes: door, authorizationServers, scopesSupported = [] }: HttpAuth,
    scopes: CatalogScopes,
    path: string,
  ) {
    const { origin, pathname } = new URL(resource);
    const own = wellKnown + toTail(pathname);
    const isPublished = authorizationServers.length > 0;
    this.paths = Object.freeze(isPublished ? [...new Set([own, wellKnown + toTail(path), wellKnown])] : []);
    this.#url = isPublished ? origin + own : undefined;
    this.#door = door;
    // No more than clients need to begin with: what a tool asks for besides says that there is such a tool.
    const supported = new Set([...door, scopes.read, scopes.write, ...scopesSupported]);
    supported.delete(notOurs);
    this.#document = JSON.stringify({
      resource,
      authorization_servers: authorizationServers,
      scopes_supported: [...supported].toSorted(),
      bearer_methods_supported: ["header"],
    });
  }

  /**
   * The value of `WWW-Authenticate`.
   *
   * @param wanted - what is asked for besides what every token must have: with less a client would come back to the same door.
   */
  write(wanted: readonly string[], error?: "invalid_token" | "insufficient_scope"): string {
    const scope = [...new Set([...this.#door, ...wanted])].join(" ");
    return [
      ...(error === undefined ? [] : [`Bearer error=${quote(error)}`]),
      `${error === undefined ? "Bearer " : ""}scope=${quote(scope)}`,
      ...(this.#url === undefined ? [] : [`resource_metadata=${quote(this.#url)}`]),
    ].join(", ");
  }

  /** The metadata. */
  readonly answer = (): HttpAnswer => ({
    status: 200,
    // The only answer that others may keep: one without an Origin must not be given to a page that has one.
    headers: { "content-type": "application/json", "cache-control": "max-age=300", vary: "origin" },
    body: this.#document,
  });
}
