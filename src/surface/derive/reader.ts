import type { Reading, Staleness } from "../reading.ts";
import type { CellUpstream } from "./derive-cell.ts";
import { Gathering } from "./gathering.ts";
import { toReadingOf } from "./reading-map.ts";

/** Something with one value, read through a client. */
export interface Reader<TValue> {
  reading(signal: AbortSignal): Promise<Reading<TValue>>;
  readings(signal: AbortSignal): AsyncIterable<Reading<TValue>>;
  /** Whether it goes on for as long as there is somebody upstream: that it ends says that there is nobody. */
  readonly isEndless: boolean;
  /** Whether a read tells what is now. The newest frame of a stream is that of another iteration, and may be long in coming. */
  readonly isReadWhileOpen: boolean;
}

async function* toReadings<TValue>(values: AsyncIterable<TValue>): AsyncGenerator<Reading<TValue>> {
  for await (const value of values) yield { value };
}

/** Reads a cell, or the frames of a stream. */
export function toReader<TValue>(upstream: CellUpstream<TValue>): Reader<TValue> {
  if ("readings" in upstream) {
    return {
      reading: (signal) => upstream.reading({ signal }),
      readings: (signal) => upstream.readings({ signal }),
      isEndless: true,
      isReadWhileOpen: true,
    };
  }
  return {
    reading: async (signal) => ({ value: await upstream.latest(undefined, { signal }) }),
    readings: (signal) => toReadings(upstream.open(undefined, { signal })),
    isEndless: false,
    isReadWhileOpen: false,
  };
}

/** As stale as the first of them that is. */
function combine<TValue>(readings: readonly Reading<TValue>[]): Reading<readonly TValue[]> {
  const stale: Staleness | undefined = readings.find((reading) => reading.stale !== undefined)?.stale;
  return toReadingOf(
    readings.map(({ value }) => value),
    stale,
  );
}

async function* followAll<TValue>(
  readers: readonly Reader<TValue>[],
  signal: AbortSignal,
): AsyncGenerator<Reading<readonly TValue[]>> {
  const newest = new Map<Reader<TValue>, Reading<TValue>>();
  const gathering = new Gathering(signal);
  try {
    for (const reader of readers) {
      gathering.follow({
        open: (own) => reader.readings(own),
        take: (reading) => void newest.set(reader, reading),
        mayEnd: !reader.isEndless,
      });
    }
    while (await gathering.moved()) {
      const readings = readers.flatMap((reader) => newest.get(reader) ?? []);
      if (readings.length === readers.length) yield combine(readings);
    }
  } finally {
    await gathering.close();
  }
}

/** Reads several as one: there is a value once each of them has one. */
export function combineReaders<TValue>(readers: readonly Reader<TValue>[]): Reader<readonly TValue[]> {
  return {
    reading: async (signal) => combine(await Promise.all(readers.map((reader) => reader.reading(signal)))),
    readings: (signal) => followAll(readers, signal),
    isEndless: true,
    isReadWhileOpen: readers.every((reader) => reader.isReadWhileOpen),
  };
}
