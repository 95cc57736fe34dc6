import { tmpdir } from "node:os";

import type { Engine, EngineOptions } from "./engine-types.ts";
import { NO_MEMORY } from "./engine-record.ts";
import { CiError } from "./errors.ts";
import { LOG_BYTES } from "./log-tail.ts";
import { PipelineEngine } from "./pipeline-engine.ts";
import type { Pipeline } from "./pipeline.ts";
import { NO_FILES } from "./run-files.ts";

const DEFAULTS = {
  parallel: 2,
  logBytes: LOG_BYTES,
  graceMs: 2000,
  memory: NO_MEMORY,
  record: () => {},
  files: NO_FILES,
};

/**
 * Makes an engine for a pipeline; all nodes are idle, or as the memory says. The caller owns it and closes it. Should the process exit
 * without that, the children are killed on the way out.
 *
 * @throws CiError `INVALID_PIPELINE` when an option is out of range.
 */
export function createEngine(pipeline: Pipeline, options: EngineOptions = {}): Engine {
  const setting = { ...DEFAULTS, temporaryDir: tmpdir(), ...options };
  for (const name of ["parallel", "logBytes"] as const) {
    const value = setting[name];
    if (Number.isInteger(value) && value >= 1) continue;
    throw new CiError("INVALID_PIPELINE", `create engine: "${name}" is ${value}, and must be an integer from 1`);
  }
  return new PipelineEngine(pipeline, setting);
}
