import { SurfaceError } from "../errors.ts";
import { isSchema, whyNoSchema } from "../schema/standard.ts";
import type { MemberMeta } from "./member.ts";

/** Keeps a definition's title and description, and leaves out what was not said. */
export function describe(definition: MemberMeta): MemberMeta {
  return {
    ...(definition.title === undefined ? {} : { title: definition.title }),
    ...(definition.description === undefined ? {} : { description: definition.description }),
  };
}

/** Refuses a part of a definition that must be a schema and is not. */
export function requireSchema(value: unknown, what: string, part: string): void {
  if (isSchema(value)) return;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Defining ${what}: "${part}" is not a Standard Schema: ${whyNoSchema(value)}`,
  );
}

/** Like {@link requireSchema}, for a part that may be left out. */
export function allowSchema(value: unknown, what: string, part: string): void {
  if (value !== undefined) requireSchema(value, what, part);
}
