import { flag, listOf, matching, object, oneOf, option, type Option, type OptionFields } from "../options/option.ts";

/** The UTF-16 units of the longest page. Bundlers write some libraries into every page. */
export const maxPageLength = 4_194_304;

/** A user of a tool in a host that shows pages: the model, or the page of a tool. */
export type ToolAudience = "model" | "app";

/** The HTML of a page: a text, a `file:` URL that is read for each request, or a function that returns a text. */
export type PageHtml = string | URL | (() => string | PromiseLike<string>);

/** The origins that a page may reach, each like `"https://api.example.com"` or `"https://*.example.com"`. @default none */
export interface PageOrigins {
  /** Origins for `fetch` and WebSockets. */
  readonly connectDomains?: readonly string[];
  /** Origins of scripts, styles, images, fonts and media. */
  readonly resourceDomains?: readonly string[];
  /** Origins of nested frames. */
  readonly frameDomains?: readonly string[];
  /** Origins that `<base>` may name. */
  readonly baseUriDomains?: readonly string[];
}

/** The browser features that a page requests. A host may refuse them. @default none */
export interface PagePermissions {
  readonly camera?: boolean;
  readonly microphone?: boolean;
  readonly geolocation?: boolean;
  readonly clipboardWrite?: boolean;
}

/** The page of a tool for hosts that support MCP Apps. Other hosts show the text of the result. */
export interface ToolUiOptions {
  /** At most 4 MiB of HTML: a text, a `file:` URL, or a function. Read again for each request. @default no page */
  readonly html?: PageHtml;
  /**
   * The users of the tool. The host enforces this, not the server: a tool for `"app"` alone is reachable by every MCP client.
   * @default model and app
   */
  readonly visibility?: readonly ToolAudience[];
  /** The origins that the page may reach. */
  readonly csp?: PageOrigins;
  /** The browser features that the page requests. */
  readonly permissions?: PagePermissions;
  /** Whether the host draws a border around the page. @default the host decides */
  readonly prefersBorder?: boolean;
  /** The origin of the page, in the form that the host documents. @default the host decides */
  readonly domain?: string;
}

// Hosts join origins to one header: a space or semicolon in an origin would add directives.
const origin = matching(
  'an origin like "https://api.example.com", "https://*.example.com" or "wss://example.com:8443"',
  /^(?:https?|wss?):\/\/(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::\d{1,5})?$/,
);
const origins = listOf(origin, "a list of at most 64 origins", { most: 64 });

const originFields: OptionFields<PageOrigins> = {
  connectDomains: origins,
  resourceDomains: origins,
  frameDomains: origins,
  baseUriDomains: origins,
};

const permissionFields: OptionFields<PagePermissions> = {
  camera: flag,
  microphone: flag,
  geolocation: flag,
  clipboardWrite: flag,
};

function isPageHtml(html: unknown): html is PageHtml {
  if (typeof html === "string") return html.includes("<") && html.length <= maxPageLength;
  return typeof html === "function" || (html instanceof URL && html.protocol === "file:");
}

const uiFields: OptionFields<ToolUiOptions> = {
  html: option("at most 4 MiB of HTML, a file: URL or a function that returns HTML", isPageHtml),
  visibility: listOf(oneOf("model", "app"), 'a list of "model" and "app" that is not empty', { least: 1, most: 2 }),
  csp: object<PageOrigins>(originFields),
  permissions: object<PagePermissions>(permissionFields),
  prefersBorder: flag,
  domain: matching("a host name", /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/),
};

const fields = object<ToolUiOptions>(uiFields);

/** The schema of the option `ui`. */
export const uiOption: Option = {
  problem(value, path) {
    const problem = fields.problem(value, path);
    if (problem !== undefined) return problem;
    // The schema has checked it.
    const { html, visibility, ...others } = value as ToolUiOptions;
    if (html !== undefined) return undefined;
    const [field] = Object.keys(others);
    if (field !== undefined) return `"${path}.${field}" is about a page: add "${path}.html"`;
    return visibility === undefined ? `"${path}" must have "html" or "visibility"` : undefined;
  },
};

/** Returns a frozen copy, which the author cannot change later. */
export function freezeUi({ ui }: { readonly ui?: ToolUiOptions | undefined }): { readonly ui?: ToolUiOptions } {
  if (ui === undefined) return {};
  const { html, ...others } = ui;
  const copy = structuredClone(others);
  const page = html instanceof URL ? new URL(html) : html;
  return { ui: Object.freeze({ ...copy, ...(page === undefined ? {} : { html: page }) }) };
}
