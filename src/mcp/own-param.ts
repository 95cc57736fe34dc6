/** An own property of params, or of what is in them; inherited names are nobody's arguments. */
export function ownParam(params: Readonly<Record<string, unknown>> | undefined, key: string): unknown {
  return params !== undefined && Object.hasOwn(params, key) ? params[key] : undefined;
}
