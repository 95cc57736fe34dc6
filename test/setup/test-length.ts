const length = process.env["TEST_LENGTH"];

/** Whether the deep tests run at full length: `npm run test:deep -- --long`, before a release. */
const isLong = length === "long";

/** How much of something random or repeated a test does, usually and at full length. */
export function amount(usual: number, long: number): number {
  return isLong ? long : usual;
}

/** Returns the number of random cases of a test: `quick` in `npm test`, `deep` in `npm run test:deep`, which runs the file again. */
export function draws(quick: number, deep: number): number {
  return length === undefined ? quick : deep;
}
