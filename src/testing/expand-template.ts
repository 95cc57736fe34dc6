import { SurfaceError } from "../errors.ts";

/** The variables of a resource template, by name. */
export type TemplateVariables = Readonly<Record<string, string | number | boolean>>;

function encode(name: string, value: string | number | boolean): string {
  try {
    return encodeURIComponent(value);
  } catch (cause) {
    // A lone surrogate, the one thing that it throws at, has no bytes to spell.
    const doing = `Filling the variable "${name}" of a template`;
    throw new SurfaceError("INVALID_OPTION", `${doing}: it must be well-formed Unicode`, { cause });
  }
}

/**
 * Fills the variables of a URI template as RFC 6570 does for `{name}` and `{/name}`; one that is missing is left out.
 *
 * @throws SurfaceError `INVALID_OPTION` for a text that no URI can hold.
 */
export function expandTemplate(template: string, variables: TemplateVariables): string {
  return template.replaceAll(/\{(\/?)(\w+)\}/g, (_whole, slash: string, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value === undefined ? "" : `${slash}${encode(name, value)}`;
  });
}
