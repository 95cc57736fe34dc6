import { SurfaceError } from "../errors.ts";
import { isObject } from "../options/is-object.ts";
import { unchecked, callable, text, type OptionFields } from "../options/option.ts";
import { invalidOption } from "../options/read-options.ts";
import { mimeTypeOption } from "../tags/looks.ts";
import { resourceFields } from "../tags/read-tag-options.ts";
import type { CollectionResourceOptions } from "../tags/tool-options.ts";
import { handler, readEntry, standardSchema } from "./entry-fields.ts";

/** A hand-written resource, and options that only collections have, which say so. */
interface GivenResource extends CollectionResourceOptions<unknown, unknown> {
  readonly mimeType?: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly variables?: unknown;
  readonly complete?: unknown;
  readonly read: unknown;
  readonly watch?: unknown;
}

const fields: OptionFields<GivenResource> = {
  read: handler,
  watch: callable,
  ...resourceFields,
  variables: standardSchema,
  uri: text,
  uriTemplate: text,
  mimeType: mimeTypeOption,
  // Checked with the variables.
  complete: unchecked,
};

const keyPattern = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*$/;
const maxKeyLength = 128;

/**
 * Refuses a hand-written resource that the compiler would have refused, for callers who cast, and values that it cannot
 * see.
 *
 * @throws SurfaceError `INVALID_NAME` for a key that no member could have, `MISSING_HANDLER`, `INVALID_OPTION`.
 */
export function assertBespokeResource(key: string, resource: unknown): void {
  const doing = `Adding resource "${key}"`;
  if (!keyPattern.test(key) || key.length > maxKeyLength) {
    throw new SurfaceError(
      "INVALID_NAME",
      `${doing}: its key must be letters, digits, "_" and single dots, starting with a letter, at most ${maxKeyLength} characters`,
    );
  }
  if (!isObject(resource)) throw invalidOption(doing, "it must be an object");
  const { uri, uriTemplate, variables } = readEntry(resource, fields, doing);
  if (uri !== undefined && variables !== undefined) {
    throw invalidOption(doing, 'with "variables" its URI is a "uriTemplate"');
  }
  if (uriTemplate !== undefined && variables === undefined) {
    throw invalidOption(doing, 'a "uriTemplate" needs "variables"');
  }
}
