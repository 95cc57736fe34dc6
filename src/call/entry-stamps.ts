import { randomUUID } from "node:crypto";
import type { ToolEntry } from "../catalog/entry.ts";
import { digestOf } from "./digest-of.ts";

/** Names all that a caller or a user can know of an entry, and all that decides how it is called. */
function definitionOf(entry: ToolEntry): string {
  const { id, title, description, version, hints, scopes, requires, input, output, errors } = entry;
  const { timeoutMs, confirm, confirmWord, confirmText, reach, authority, isInternal } = entry;
  const shown = { id, title, description, version, hints, input: input.json, output: output.json, errors };
  // Of the author's text, each question is compared.
  const writes = confirmText !== undefined;
  const rules = { scopes, requires, timeoutMs, confirm, confirmWord, writes, reach, authority, isInternal };
  return digestOf(JSON.stringify({ ...shown, ...rules }));
}

/**
 * Stamps entries, so that a retry with an answer runs only the operation for which its client was asked. Within one app that is the
 * same entry; other processes, which share a secret, list entries of their own, and there the definition must be equal.
 */
export class EntryStamps {
  readonly #app = randomUUID();
  readonly #stamps = new WeakMap<ToolEntry, string>();

  /** Returns the stamp of an entry. */
  of(entry: ToolEntry): string {
    let stamp = this.#stamps.get(entry);
    if (stamp === undefined) {
      stamp = `${this.#app} ${definitionOf(entry)} ${randomUUID()}`;
      this.#stamps.set(entry, stamp);
    }
    return stamp;
  }

  /** Returns whether an entry is the one that a stamp, of this app or of another process, was made for. */
  fits(entry: ToolEntry, stamp: string): boolean {
    const own = this.of(entry);
    if (own === stamp) return true;
    const [app, definition] = stamp.split(" ");
    const [, ownDefinition] = own.split(" ");
    return app !== this.#app && definition === ownDefinition;
  }
}
