/** The variables of a resource template, by name. */
export type TemplateVariables = Readonly<Record<string, string | number | boolean>>;

/** Fills the variables of a URI template as RFC 6570 does for `{name}` and `{/name}`; one that is missing is left out. */
export function expandTemplate(template: string, variables: TemplateVariables): string {
  return template.replaceAll(/\{(\/?)(\w+)\}/g, (_whole, slash: string, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value === undefined ? "" : `${slash}${encodeURIComponent(value)}`;
  });
}
