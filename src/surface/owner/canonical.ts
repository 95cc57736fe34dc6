import { isPlainObject } from "../../schema/json.ts";
const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Returns a text for an object that is equal only to itself. */
function identityOf(value: object): string {
  let number = numbers.get(value);
  if (number === undefined) {
    lastNumber += 1;
    number = lastNumber;
    numbers.set(value, number);
  }
  return `#${number}`;
}

function toFields(value: object): string {
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(",")}}`;
}

function canonicalObject(value: object): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (value instanceof Set) return `Set(${[...value].map(canonical).toSorted().join(",")})`;
  if (value instanceof Map) {
    return `Map(${[...value]
      .map(([key, item]) => `${canonical(key)}:${canonical(item)}`)
      .toSorted()
      .join(",")})`;
  }
  return isPlainObject(value) ? toFields(value) : identityOf(value);
}

/** Returns one text for structurally equal values, in any order of fields and items. An object of a class is equal only to itself. */
export function canonical(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "bigint":
      return `${value}n`;
    case "object":
      return value === null ? "null" : canonicalObject(value);
    case "function":
      return identityOf(value);
    default:
      return String(value);
  }
}

/** Creates a function that returns the value before while the content stays the same. */
export function createSteady<TValue>(): (value: TValue) => TValue {
  let last: { readonly text: string; readonly value: TValue } | undefined;
  return (value) => {
    const text = canonical(value);
    if (last?.text !== text) last = { text, value };
    return last.value;
  };
}
