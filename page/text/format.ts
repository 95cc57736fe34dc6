const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** Writes a number with three digits a group: `12,345`. */
export const toCount = (value: number): string => value.toLocaleString("en");

/** Writes bytes in the largest unit: `4.1 kB`. */
export function toBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return `${value < 100 ? value.toFixed(1) : toCount(Math.round(value))} ${unit}`;
}

/** Writes milliseconds for people: `0.4 ms`, `12 ms`, `1.24 s`, `3 min 05 s`, `2 h 07 min`. */
export function toDuration(ms: number): string {
  if (ms < 10) return `${Math.max(0, ms).toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`;
  return toSpan(ms);
}

/** Writes milliseconds in whole seconds, for spans that grow while they are shown: `7 s`, `3 min 05 s`, `2 d 4 h`. */
export function toSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${twoDigits(minutes % 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Writes the date and time, in the zone of the browser: `2026-11-28 14:03:59`. Sweden writes dates as ISO 8601 does. */
export const toMoment = (at: number): string => new Date(at).toLocaleString("sv");

/** Writes the time of day: `14:03:59`. */
export const toClock = (at: number): string => toMoment(at).slice(-8);

/** Writes a value that may be unknown. */
export const ifKnown = (value: number | undefined, write: (value: number) => string): string =>
  value === undefined ? "–" : write(value);
