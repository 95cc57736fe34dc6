/** Milliseconds on a clock that all processes of a machine share, so that what one of them did has a place in another's story. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
