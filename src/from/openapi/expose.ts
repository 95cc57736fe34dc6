import type { MountedOperation, MountedResource } from "../../catalog/mounts/mount.ts";
import { invalidOption, readChoice } from "../../options/read-options.ts";
import { isRecord } from "../../options/is-object.ts";

/** Options of an operation as a tool. */
export type OpenApiWriteOptions = Omit<
  MountedOperation,
  "name" | "type" | "inputSchema" | "outputSchema" | "errorSchemas" | "visibility" | "canCall" | "callScopes"
> & {
  /** The name of the tool. @default the key, with `_` for characters that no name has */
  readonly name?: string;
};

/** Options of an operation as a tool that only reads. */
export type OpenApiReadOptions = Omit<OpenApiWriteOptions, "destructive">;

/** Options of an operation as a resource. */
export type OpenApiResourceOptions = Omit<MountedResource, "path" | "mimeType"> & {
  /** The end of its URI. @default the key, with `_` for characters that no name has */
  readonly name?: string;
};

/** The value of one operation in an expose map. An operation that is left out is not exposed. */
export type OpenApiExposure =
  | "read"
  | "write"
  | "resource"
  | { readonly read: OpenApiReadOptions }
  | { readonly write: OpenApiWriteOptions }
  | { readonly resource: OpenApiResourceOptions };

/** An exposure as it was read. */
export interface ReadExposure {
  readonly as: "read" | "write" | "resource";
  readonly options: object;
}

/** The fields of a tool that the operation itself decides. */
const fixedFields = ["type", "inputSchema", "outputSchema", "errorSchemas", "visibility", "path", "mimeType"];

/** Reads a value of the map. @throws SurfaceError `INVALID_OPTION`. */
export function readKind(key: string, value: unknown): ReadExposure {
  const doing = `Cannot expose operation "${key}"`;
  const choice = readChoice(value, ["read", "write", "resource"], {});
  if (choice === undefined || !isRecord(choice.given)) {
    throw invalidOption(doing, 'write "read", "write", "resource", or an object with one of them and its options');
  }
  const { word: as, given: options } = choice;
  const fixed = fixedFields.find((field) => field in options);
  if (fixed !== undefined) throw invalidOption(doing, `"${fixed}" is not an option: the document decides it`);
  return { as, options };
}

const unplain = /[^A-Za-z0-9_.-]+/g;

/** Returns the name for a key: runs of other characters than letters, digits, `_`, `-` and dots become one `_`. */
export function toName(key: string): string {
  return key
    .split(unplain)
    .filter((part) => part !== "")
    .join("_");
}
