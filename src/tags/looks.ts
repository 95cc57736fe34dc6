import type { JsonObject } from "type-fest";
import { isRecord } from "../options/is-object.ts";
import { option, type Option, type OptionFields } from "../options/option.ts";

/** A picture that stands for an entry, or for the server. */
export interface Icon {
  /** An `https:` or `data:` URI. */
  readonly src: string;
  readonly mimeType?: string;
  /** For example `["48x48"]`, or `["any"]`. */
  readonly sizes?: readonly string[];
  /** The background that it is made for. */
  readonly theme?: "light" | "dark";
}

/** What hosts show of an entry, and what they are told besides. */
export interface Looks {
  /** At most 16. */
  readonly icons?: readonly Icon[];
  /** Passed on as `_meta`, for hosts that know its keys (`"anthropic/maxResultSizeChars"`); JSON, at most 16 KiB. */
  readonly meta?: JsonObject;
}

const maxIcons = 16;
const maxIconLength = 65_536;
const maxMetaLength = 16_384;
const iconKeys: ReadonlySet<string> = new Set(["src", "mimeType", "sizes", "theme"]);
const themes: ReadonlySet<unknown> = new Set([undefined, "light", "dark"]);
const sizePattern = /^(?:any|[1-9]\d{0,4}x[1-9]\d{0,4})$/;
const iconSource = /^(?:https:\/\/|data:)[^\s<>"]+$/i;

// MCP's rules for keys of `_meta`: labels with dots and a slash, which may be left out, then a name.
const metaKey =
  /^(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;
const reservedLabels: ReadonlySet<string> = new Set(["modelcontextprotocol", "mcp"]);

/** Whether a key's prefix is the protocol's own: its second label, or its only one, says so. */
function isReserved(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return key === "progressToken";
  const [first = "", second] = key.slice(0, slash).toLowerCase().split(".");
  return reservedLabels.has(second ?? first) || reservedLabels.has(first) || first === "surface-mcp";
}

function isIcon(icon: unknown): icon is Icon {
  if (typeof icon !== "object" || icon === null) return false;
  if (Object.keys(icon).some((key) => !iconKeys.has(key))) return false;
  // Its fields are looked at next, whatever they are.
  const { src, mimeType: type, sizes, theme } = icon as { readonly [Key in keyof Icon]?: unknown };
  if (!isText(src, iconSource) || !areSizes(sizes)) return false;
  return (type === undefined || isMimeType(type)) && themes.has(theme);
}

function areSizes(sizes: unknown): boolean {
  return sizes === undefined || (Array.isArray(sizes) && sizes.every((size) => isText(size, sizePattern)));
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && value.length <= maxIconLength && pattern.test(value);
}

const mimeType =
  /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/[A-Za-z0-9][\w!#$&^.+-]{0,126}(?: ?; ?[\w!#$&^.+-]+=[\w!#$&^.+"/-]+)*$/;

/** Returns true for the name of a type of content: `type/subtype`, and parameters where there are any. */
export function isMimeType(value: unknown): value is string {
  return typeof value === "string" && value.length <= 255 && mimeType.test(value);
}

/** Names of types of content. */
export const mimeTypeOption: Option = option('a type and a subtype, like "text/plain"', isMimeType);

/** Icons that hosts should load and can understand. */
export const iconList: Option = option(
  `a list of at most ${maxIcons} of { src, mimeType?, sizes?, theme? }, each "src" an https: or data: URI`,
  (value) => Array.isArray(value) && value.length <= maxIcons && Array.from<unknown>(value).every(isIcon),
);

/** An object as JSON has it; `undefined` for what is none there, or is too large. */
function readMeta(meta: unknown): object | undefined {
  try {
    const text = JSON.stringify(meta);
    const json: unknown = text.length > maxMetaLength ? undefined : JSON.parse(text);
    return isRecord(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** JSON that can be sent as `_meta`, without the keys that only the protocol sets. */
export const metaObject: Option = {
  problem(value, path) {
    const json = readMeta(value);
    if (json === undefined) return `"${path}" must be a JSON object of at most ${maxMetaLength} characters`;
    const keys = Object.keys(json);
    const odd = keys.find((key) => key === "" || !metaKey.test(key));
    if (odd !== undefined) return `"${path}" has the key "${odd}", which must be like "name" or "host/name"`;
    const reserved = keys.find(isReserved);
    return reserved === undefined ? undefined : `"${path}" has the key "${reserved}", which is not yours to set`;
  },
};

/** Options of what hosts show of an entry. */
export const lookFields: OptionFields<Looks> = { icons: iconList, meta: metaObject };

/** Icons and meta as they are now, whatever becomes of the author's objects: frozen copies. */
export function keepLooks({ icons, meta }: Looks): Looks {
  return {
    ...(icons === undefined ? {} : { icons: copyFrozen(icons) }),
    ...(meta === undefined ? {} : { meta: copyFrozen(meta) }),
  };
}

/** A frozen copy of JSON. */
function copyFrozen<TJson extends object>(json: TJson): TJson {
  // A copy of JSON has the type of what it is a copy of.
  return JSON.parse(JSON.stringify(json), (_key, value: unknown) => Object.freeze(value)) as TJson;
}
