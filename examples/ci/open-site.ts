import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { createEngine } from "./engine/engine.ts";
import { CiError } from "./engine/errors.ts";
import { openJournal } from "./engine/journal.ts";
import type { Journal } from "./engine/journal.ts";
import { OUTPUT_PREFIX } from "./engine/output-socket.ts";
import type { Pipeline } from "./engine/pipeline.ts";
import { readPipelineFile } from "./engine/pipeline-file.ts";
import { fillPlaceholders, usesPlaceholder } from "./engine/placeholders.ts";
import { endOrphans } from "./engine/process-group.ts";
import { replayJournal } from "./engine/replay-journal.ts";
import type { Replay } from "./engine/replay-journal.ts";
import { openRunFiles } from "./engine/run-files.ts";
import { keepScratch } from "./engine/scratch.ts";
import type { PipelineSite } from "./pipeline-handlers.ts";
import { journalIn, makeStateDir, runsIn, scratchIn } from "./state-dir.ts";

/** A pipeline as its state directory says that it stands, and everything it holds on to. */
export interface Site extends PipelineSite {
  /** Goes on with a run that was cut short. Returns the interrupted nodes, which are queued again. */
  takeUp(): Promise<readonly string[]>;
  /** Ends every child process. It is no verdict: a run in progress is taken up by the next site. Idempotent. */
  close(): Promise<void>;
}

/** Which pipeline is opened, and where its state is kept. */
export interface SiteSetting {
  readonly file: string;
  readonly state: string;
}

/** Hosts give a server two seconds in all to end. */
const GRACE_MS = 500;
/** How long what a killed process has left may take to end by its lifeline, before it is killed. */
const ORPHAN_WAIT_MS = 1000;

/**
 * Reads a pipeline and its state, makes the scratch copy if one of its nodes names `{scratch}` and there is none yet, and
 * makes an engine. The caller owns the state directory before that, and for as long as the site is open, and closes it.
 *
 * @throws CiError `INVALID_PIPELINE`, `INVALID_JOURNAL`, or `INVALID_STATE` for the state of another pipeline
 */
export async function openSite({ file, state }: SiteSetting): Promise<Site> {
  const described = await readPipelineFile(file);
  const dir = await makeStateDir(state);
  const scratch = usesPlaceholder(described, "scratch") ? scratchIn(dir) : undefined;
  const journal = openJournal(journalIn(dir));
  try {
    const replay = replayJournal(journal.lines);
    const digest = digestOf(described);
    if (replay.pipeline !== undefined && replay.pipeline !== digest) {
      throw new CiError("INVALID_STATE", `open the state "${dir}": it is of another pipeline than "${file}"`);
    }
    if (scratch !== undefined) await keepScratch(scratch);
    const pipeline = scratch === undefined ? described : fillPlaceholders(described, { scratch });
    return toSite({ dir, pipeline, scratch, journal, replay, digest });
  } catch (error) {
    journal.close();
    throw error;
  }
}

interface SiteParts {
  readonly dir: string;
  readonly pipeline: Pipeline;
  readonly scratch: string | undefined;
  readonly journal: Journal;
  readonly replay: Replay;
  readonly digest: string;
}

function toSite({ dir, pipeline, scratch, journal, replay, digest }: SiteParts): Site {
  const { memory, cut } = replay;
  let onReady = (): void => {};
  const ready = new Promise<void>((resolve) => (onReady = resolve));
  const engine = createEngine(pipeline, {
    graceMs: GRACE_MS,
    memory,
    record: journal.write,
    files: openRunFiles(runsIn(dir)),
    temporaryDir: dir,
  });
  return {
    pipeline,
    engine,
    scratch,
    ready,
    earlier: memory.verdicts,
    onRepaired: (repair) => journal.write({ kind: "repaired", repair }),
    async takeUp() {
      journal.write({ kind: "opened", pid: process.pid, at: Date.now(), pipeline: digest });
      await removeRemains(dir);
      await Promise.all(cut.map(({ group, born }) => endOrphans(group, born, ORPHAN_WAIT_MS)));
      const cutNodes = engine.resume();
      onReady();
      return cutNodes;
    },
    async close() {
      journal.close();
      await engine.close();
    },
  };
}

/** Removes what a killed process could not. */
async function removeRemains(dir: string): Promise<void> {
  const remains = (await readdir(dir)).filter((name) => name.startsWith(OUTPUT_PREFIX));
  await Promise.all(remains.map((name) => rm(join(dir, name), { recursive: true, force: true })));
}

function digestOf(pipeline: Pipeline): string {
  return createHash("sha256").update(JSON.stringify(pipeline)).digest("hex");
}
