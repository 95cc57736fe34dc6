/** What the spine holds: something that was dialled, and that it closes. */
export interface HeldLink {
  /** Begins to close it. Callable twice; must not throw. */
  close(): void;
}

/** What becomes of one attempt. May be told synchronously, late, or after the attempt was abandoned. */
export interface DialEvents<TLink> {
  /** It is there. Whoever hears this owns the link, and closes it, also when it comes too late. */
  opened(link: TLink): void;
  /** It could not be reached. */
  failed(cause: unknown): void;
  /** It has announced that it is going: it takes no new use, and what is under way may still be answered. */
  leaving(): void;
  /** It is gone. Told once at most, also where `leaving()` was not; before `opened()` it means a link that was born dead. */
  ended(cause?: unknown): void;
}

/** Starts one attempt; returns what abandons it. Must not throw. */
export type Dial<TLink extends HeldLink> = (events: DialEvents<TLink>) => () => void;
