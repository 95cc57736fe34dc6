import { SurfaceError } from "../../src/errors.ts";

/** A linked app as a caller who casts sees it. */
export interface AnyApp {
  exactly(names: unknown): AnyApp;
  expose(map: unknown): AnyApp;
  tools(tools: unknown): AnyApp;
  prompts(prompts: unknown): AnyApp;
  resources(resources: unknown): AnyApp;
  mount(prefix: string, source: unknown): AnyApp;
  views(input: unknown, options?: unknown): AnyApp;
  pull(): AnyApp;
  open(): { close(): Promise<void> };
}

// The stages show what is legal; these tests do what is not.
export const any = (app: unknown): AnyApp => app as AnyApp;

/** Returns the error of opening an app; `undefined` if it opens. */
export async function errorOfBoot(make: () => AnyApp): Promise<SurfaceError | undefined> {
  try {
    await make().open().close();
    return undefined;
  } catch (cause) {
    if (cause instanceof SurfaceError) return cause;
    throw cause;
  }
}
