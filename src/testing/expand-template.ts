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

function expandQuery(names: string, variables: TemplateVariables): string {
  const pairs = names.split(",").flatMap((name) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value === undefined ? [] : [`${name}=${encode(name, value)}`];
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/**
 * Fills the variables of a URI template as RFC 6570 does for `{name}`, `{/name}` and `{?name,name}`; one that is missing is
 * left out.
 *
 * @throws SurfaceError `INVALID_OPTION` for a text that no URI can hold.
 */
export function expandTemplate(template: string, variables: TemplateVariables): string {
  const path = template.replace(/\{\?([\w,]+)\}$/, (_whole, names: string) => expandQuery(names, variables));
  return path.replaceAll(/\{(\/?)(\w+)\}/g, (_whole, slash: string, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value === undefined ? "" : `${slash}${encode(name, value)}`;
  });
}
