const words: ReadonlyMap<string, string> = new Map([
  ["date", "an ISO 8601 date-time string"],
  ["bigint", "an integer as a decimal string"],
  ["map", "an array of [key, value] pairs"],
  ["set", "an array"],
]);

// What zod, valibot and arktype say of a value of another type. That a text was received is no contradiction on the wire.
const typeRegExp =
  /\b(expected|must be) (?:an? )?(date|bigint|map|set)(?:, received string|(?=, received| but received| \(was))/gi;

/**
 * Words the message of a failed validation by what travels: a caller who sent JSON cannot send a date, and was shown a
 * schema that asks for a string.
 */
export function toWireWords(message: string): string {
  return message.replaceAll(typeRegExp, (found, verb: string, type: string) => {
    const form = words.get(type.toLowerCase());
    return form === undefined ? found : `${verb} ${form}`;
  });
}
