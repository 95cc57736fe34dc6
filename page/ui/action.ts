import { messageOf, postJson } from "../requests.ts";
import { keep } from "./kept-state.ts";

/** An action of the user: it is sent once, and again only after it failed. */
export interface Action {
  readonly isSent: boolean;
  readonly error: string | undefined;
  readonly run: (body: object) => void;
}

/** Returns the action that posts to a route for one object. */
export function actionOf(path: string, id: string): Action {
  const [{ isSent, error }, set] = keep<Omit<Action, "run">>(`${path} ${id}`, { isSent: false, error: undefined });
  const run = (body: object): void => {
    set({ isSent: true, error: undefined });
    postJson(path, body).catch((cause: unknown) => set({ isSent: false, error: messageOf(cause) }));
  };
  return { isSent, error, run };
}
