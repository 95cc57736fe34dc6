function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether everything that `part` says is in a value; what else is there does not matter. */
export function hasPart(value: unknown, part: unknown): boolean {
  if (!isObject(part)) return Object.is(value, part);
  if (!isObject(value) || Array.isArray(value) !== Array.isArray(part)) return false;
  if (Array.isArray(value) && Array.isArray(part) && value.length !== part.length) return false;
  return Object.entries(part).every(
    ([key, each]) => Object.hasOwn(value, key) && hasPart(Reflect.get(value, key), each),
  );
}
