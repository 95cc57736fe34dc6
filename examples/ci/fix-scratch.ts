import { relative, resolve, sep } from "node:path";
import type { z } from "zod";

import { parseCompilerErrors } from "./engine/compiler-errors.ts";
import type { Engine } from "./engine/engine-types.ts";
import { CiError } from "./engine/errors.ts";
import type { Pipeline } from "./engine/pipeline.ts";
import { repair } from "./engine/repair.ts";
import type { Repair } from "./engine/repair.ts";
import type { CompilerComplaint } from "./pipeline-schemas.ts";

/** Where {@link fixScratch} may repair, and where it looks up what it is told. */
export interface FixSite {
  readonly pipeline: Pipeline;
  readonly engine: Engine;
  /** The only folder in which a file may change; left out where the pipeline has none. */
  readonly scratch: string | undefined;
  /** Told what was changed, and for which node. */
  readonly onRepaired?: (repair: Repair & { readonly node: string }) => void;
}

/**
 * Repairs what the compiler complained about, and only that: the node must work in the scratch copy, and its log must
 * hold the very error that the caller read there.
 *
 * @throws CiError `UNKNOWN_NODE`, `OUTSIDE_SCRATCH` or `NOT_REPAIRABLE`
 */
export async function fixScratch(site: FixSite, complaint: z.output<typeof CompilerComplaint>): Promise<Repair> {
  const { node: id, ...error } = complaint;
  const attempt = `fix ${error.code} in the log of "${id}"`;
  const { text } = site.engine.log(id);
  const node = site.pipeline.nodes.find((each) => each.id === id);
  const folder = node && resolve(node.cwd);
  if (site.scratch === undefined || folder === undefined || !isWithin(site.scratch, folder)) {
    throw new CiError("OUTSIDE_SCRATCH", `${attempt}: the node does not work in the scratch copy, and must do so`);
  }
  const said = parseCompilerErrors(text).some(
    ({ file, line, column, code, message }) =>
      file === error.file &&
      line === error.line &&
      column === error.column &&
      code === error.code &&
      message === error.message,
  );
  if (!said) throw new CiError("NOT_REPAIRABLE", `${attempt}: the log must hold this error, and does not`);
  const done = await repair(folder, error);
  site.onRepaired?.({ node: id, ...done });
  return done;
}

function isWithin(root: string, folder: string): boolean {
  const way = relative(root, folder);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}
