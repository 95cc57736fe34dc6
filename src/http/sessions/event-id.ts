/** Where one event of a session stands: in which of its streams, and how far along. */
export interface EventPlace {
  readonly stream: number;
  /** From 1; 0: nothing of it was read yet; infinite: nothing of it will follow. */
  readonly seq: number;
}

const pattern = /^([0-9a-f]{12})\.(0|[1-9][0-9]{0,14})\.(0|[1-9][0-9]{0,14}|end)$/;

/** Makes what marks the events of one session. Tells nothing of the session's own id, which is a secret of its client's. */
export function mintTag(): string {
  return crypto.randomUUID().slice(-12);
}

/** Writes the id of an event. */
export function toEventId(tag: string, { stream, seq }: EventPlace): string {
  return `${tag}.${stream}.${Number.isFinite(seq) ? seq : "end"}`;
}

/** Reads an id back; `undefined` where it is none of this session's. */
export function readEventId(tag: string, id: string): EventPlace | undefined {
  const [, ofTag, stream, seq] = pattern.exec(id) ?? [];
  if (ofTag !== tag) return undefined;
  return { stream: Number(stream), seq: seq === "end" ? Infinity : Number(seq) };
}
