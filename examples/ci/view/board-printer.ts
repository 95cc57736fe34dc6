import { toNodeTable, toProgressLine } from "../agent/describe-nodes.ts";
import type { BoardView } from "../agent/describe-nodes.ts";
import { createPalette } from "../agent/palette.ts";
import type { Palette } from "../agent/palette.ts";
import type { Paper } from "../agent/printer.ts";

/** A board, and since when it is not known to be the newest. */
export interface BoardReading {
  readonly value: BoardView;
  readonly stale?: { readonly since: string };
}

/** Where a view goes. */
export interface BoardPrinter {
  show(reading: BoardReading): void;
  /** Leaves what was shown last where it is. */
  close(): void;
}

const HIDE_CURSOR = "\u001B[?25l";
const SHOW_CURSOR = "\u001B[?25h";

/** Makes a printer: a table that is written over on a terminal, plain lines on anything else. */
export function createBoardPrinter(paper: Paper, env: NodeJS.ProcessEnv = process.env): BoardPrinter {
  const isLive = paper.isTTY === true && env["TERM"] !== "dumb";
  return isLive ? createTablePrinter(paper, createPalette(!env["NO_COLOR"])) : createLinePrinter(paper);
}

function createLinePrinter(paper: Paper): BoardPrinter {
  let last = "";
  return {
    show(reading) {
      const line = `${toTitle(reading, createPalette(false))}: ${toProgressLine(reading.value.nodes)}`;
      if (line !== last) paper.write(`${line}\n`);
      last = line;
    },
    close() {},
  };
}

function createTablePrinter(paper: Paper, paint: Palette): BoardPrinter {
  let height = 0;
  paper.write(HIDE_CURSOR);
  return {
    show(reading) {
      const lines = [toTitle(reading, paint), ...toNodeTable(reading.value.nodes, paint)];
      // Back to where it began, and everything below gone: a table may become shorter.
      const back = height === 0 ? "" : `\u001B[${height}A`;
      paper.write(`${back}\r\u001B[J${lines.map((line) => `${line.trimEnd()}\n`).join("")}`);
      height = lines.length;
    },
    close: () => void paper.write(SHOW_CURSOR),
  };
}

function toTitle({ value: { run, active, red }, stale }: BoardReading, paint: Palette): string {
  const state = active ? paint("busy", "running") : "settled";
  const colour = red ? paint("bad", ", red") : "";
  const age = stale === undefined ? "" : paint("warn", `, as of ${stale.since}: the coordinator does not answer`);
  return run === 0 ? `no run yet${age}` : `run ${run} is ${state}${colour}${age}`;
}
