/** Whether the deep tests run at full length: `npm run test:deep -- --long`, before a release. */
const isLong = process.env["TEST_LENGTH"] === "long";

/** How much of something random or repeated a test does, usually and at full length. */
export function amount(usual: number, long: number): number {
  return isLong ? long : usual;
}
