import { createEngine } from "./engine/engine.ts";
import { readPipelineFile } from "./engine/pipeline-file.ts";
import { fillPlaceholders, usesPlaceholder } from "./engine/placeholders.ts";
import { prepareScratch } from "./engine/scratch.ts";
import type { FixSite } from "./fix-scratch.ts";

/** A pipeline ready to run, and everything it holds on to. */
export interface Site extends FixSite {
  /** Ends every child process and deletes the scratch copy. Idempotent. */
  close(): Promise<void>;
}

/** Hosts give a server two seconds in all to end. */
const GRACE_MS = 500;

/**
 * Reads a pipeline, makes the scratch copy if one of its nodes names `{scratch}`, and makes an engine. The caller
 * closes it.
 *
 * @throws CiError `INVALID_PIPELINE`
 */
export async function openSite(file: string): Promise<Site> {
  const described = await readPipelineFile(file);
  const scratch = usesPlaceholder(described, "scratch") ? await prepareScratch() : undefined;
  const pipeline = scratch ? fillPlaceholders(described, { scratch: scratch.dir }) : described;
  const engine = createEngine(pipeline, { graceMs: GRACE_MS });
  const close = async (): Promise<void> => {
    await engine.close();
    await scratch?.dispose();
  };
  return { pipeline, engine, scratch: scratch?.dir, close };
}
