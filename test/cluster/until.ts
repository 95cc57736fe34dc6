import { setTimeout as delay } from "node:timers/promises";

/** Waits until `find` returns something else than `undefined` or false. */
export async function until<TValue>(find: () => TValue | undefined | Promise<TValue | undefined>): Promise<TValue> {
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    await delay(5);
  }
}
