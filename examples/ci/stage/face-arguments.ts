import type { CoordinatorSetting } from "./coordinator-process.ts";

/** What a face is started with. Tied: nothing is to be left of all this, and one that is not would leave its coordinator. */
export function toFaceArguments({ pipeline, state, temporary }: CoordinatorSetting): readonly string[] {
  return ["--state", state, "--pipeline", pipeline, "--tied", ...(temporary ? ["--temporary"] : [])];
}
