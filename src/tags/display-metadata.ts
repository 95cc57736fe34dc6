import { isRecord } from "../options/is-object.ts";
import {
  listOf,
  matching,
  object,
  oneOf,
  option,
  required,
  type Option,
  type OptionFields,
} from "../options/option.ts";
import type { JsonObject } from "../schema/json.ts";

/** A picture of an entry, or of the server. */
export interface Icon {
  /** An `https:` or `data:` URI. */
  readonly src: string;
  readonly mimeType?: string;
  /** For example `["48x48"]`, or `["any"]`. */
  readonly sizes?: readonly string[];
  /** The background that the picture is made for. */
  readonly theme?: "light" | "dark";
}

/** Display metadata of an entry. */
export interface DisplayMetadata {
  /** At most 16. */
  readonly icons?: readonly Icon[];
  /** Passed on as `_meta`, for hosts that know its keys (`"anthropic/maxResultSizeChars"`); JSON, at most 16 KiB. */
  readonly meta?: JsonObject;
}

const maxIcons = 16;
const maxIconLength = 65_536;
const maxMetaLength = 16_384;
const iconSource = /^(?:https:\/\/|data:)[^\s<>"]+$/i;

const mimeType =
  /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/[A-Za-z0-9][\w!#$&^.+-]{0,126}(?: ?; ?[\w!#$&^.+-]+=[\w!#$&^.+"/-]+)*$/;

// MCP's rules for keys of `_meta`: an optional prefix of labels with dots and a slash, then a name.
const metaKey =
  /^(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;
const reservedLabels: ReadonlySet<string> = new Set(["modelcontextprotocol", "mcp"]);

/** Returns true for a MIME type: `type/subtype`, and optional parameters. */
export function isMimeType(value: unknown): value is string {
  return typeof value === "string" && value.length <= 255 && mimeType.test(value);
}

/** The schema of a MIME type. */
export const mimeTypeOption: Option = option('a type and a subtype, like "text/plain"', isMimeType);

const icon = object<Icon>({
  src: required(
    option(
      `an https: or data: URI of at most ${maxIconLength} characters`,
      (value) => typeof value === "string" && value.length <= maxIconLength && iconSource.test(value),
    ),
  ),
  mimeType: mimeTypeOption,
  sizes: listOf(matching('"any" or like "48x48"', /^(?:any|[1-9]\d{0,4}x[1-9]\d{0,4})$/), "a list of sizes"),
  theme: oneOf("light", "dark"),
});

/** The schema of the option `icons`. */
export const iconList: Option = listOf(icon, `a list of at most ${maxIcons} icons`, { most: maxIcons });

/** Returns true if the prefix of a key belongs to the protocol, by its second label or its only one. */
function isReserved(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return key === "progressToken";
  const [first = "", second] = key.slice(0, slash).toLowerCase().split(".");
  return reservedLabels.has(second ?? first) || reservedLabels.has(first) || first === "surface-mcp";
}

/** Returns an object as JSON has it; `undefined` for any other value, and for one that is too large. */
function readMeta(meta: unknown): object | undefined {
  try {
    const text = JSON.stringify(meta);
    const json: unknown = text.length > maxMetaLength ? undefined : JSON.parse(text);
    return isRecord(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** The schema of the option `meta`: JSON for `_meta`, without the keys of the protocol. */
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

/** Schemas of {@link DisplayMetadata}. */
export const displayFields: OptionFields<DisplayMetadata> = { icons: iconList, meta: metaObject };

/** Returns frozen copies of icons and meta, which the author cannot change later. */
export function freezeDisplayMetadata({ icons, meta }: DisplayMetadata): DisplayMetadata {
  return {
    ...(icons === undefined ? {} : { icons: copyFrozen(icons) }),
    ...(meta === undefined ? {} : { meta: copyFrozen(meta) }),
  };
}

function copyFrozen<TJson extends object>(json: TJson): TJson {
  // A copy of JSON has the same type.
  return JSON.parse(JSON.stringify(json), (_key, value: unknown) => Object.freeze(value)) as TJson;
}
