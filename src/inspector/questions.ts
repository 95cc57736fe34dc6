import type { QuestionAnswered, QuestionAsked } from "../observe/observation.ts";
import { toDefined } from "../observe/to-defined.ts";
import { setNewest } from "../spine/collections.ts";
import type { Cut, QuestionRow } from "./messages.ts";
import { cut, toName, toShownName } from "./texts.ts";

const maxShown = 200;
const maxKept = 10_000;

/** Milliseconds after which a client that answers by another request has given up. */
const staleMs = 600_000;

/** The questions that wait for an answer. */
export class OpenQuestions {
  readonly #open = new Map<string, { readonly asked: QuestionAsked; readonly askedAt: number }>();

  asked(asked: QuestionAsked, now: number): void {
    setNewest(this.#open, [asked.id, { asked, askedAt: now }], maxKept);
  }

  answered({ id }: QuestionAnswered): void {
    this.#open.delete(id);
  }

  list(now: number): Cut<QuestionRow> {
    for (const [id, { askedAt }] of this.#open) if (now - askedAt > staleMs) this.#open.delete(id);
    const { rows, more } = cut([...this.#open.values()], maxShown);
    return { rows: rows.map(({ asked }) => toRow(asked)), more };
  }
}

function toRow({ id, kind, isConfirmation, operation, caller, at }: QuestionAsked): QuestionRow {
  const tool = toShownName(operation);
  return toDefined({ id: toName(id), kind, isConfirmation, tool, caller: toName(caller.id), since: at });
}
