import type { Place } from "./in-flight.ts";

/** Somebody who needs the link: a watch for as long as it is watched, a request until it is answered. */
export interface HolderUser<TLink> {
  /**
   * Where it stands with its holder, who alone changes it: a user that joins once more before it has left, as one does
   * that is lost while it joins, is still there once.
   */
  place?: Place<HolderUser<TLink>> | undefined;
  /** Whether it needs a link that it does not have. The holder redials while one such user is there. */
  readonly wants: boolean;
  /** Whether it waits for the next attempt, now that one has failed so. One that does not is told {@link unreachable}. */
  isPatient(failure: unknown): boolean;
  /** There is a link, from now on. Told once a generation, at once where there is one. */
  live(link: TLink, generation: number): void;
  /** That link takes no new use: it is going, or gone. */
  down(generation: number): void;
  /** That link is gone: what it has not answered it never will. */
  ended(generation: number): void;
  /** There is no link, and this user has been let go of. */
  unreachable(cause: unknown): void;
}
