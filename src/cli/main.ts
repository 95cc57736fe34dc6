#!/usr/bin/env node
import { homedir } from "node:os";
import { guardStdout } from "../links/stdout-guard.ts";
import { readStream } from "./lockfiles.ts";
import { runCli } from "./run-cli.ts";

// Output of a loaded app module must not mix with the result.
const { output } = guardStdout();

// The reader may close the pipe before the end.
for (const stream of [output, process.stdout]) stream.on("error", () => process.exit(1));

const code = await runCli(process.argv.slice(2), {
  home: homedir(),
  cwd: process.cwd(),
  platform: process.platform,
  env: process.env,
  isTerminal: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  readInput: () => readStream(process.stdin),
  write: (text) => void output.write(text),
  complain: (text) => void process.stderr.write(text),
});

// Flush, then exit explicitly: a loaded app module may hold timers and sockets.
output.write("", () => process.stderr.write("", () => process.exit(code)));
