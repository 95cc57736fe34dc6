#!/usr/bin/env node
import { homedir } from "node:os";
import { guardStdout } from "../links/stdout-guard.ts";
import { runCli } from "./run-cli.ts";

// What a module prints that is loaded for its app is no part of what was asked for.
const { output } = guardStdout();

// Whoever reads what is written may go before its end.
for (const stream of [output, process.stdout]) stream.on("error", () => process.exit(1));

const code = await runCli(process.argv.slice(2), {
  home: homedir(),
  cwd: process.cwd(),
  platform: process.platform,
  env: process.env,
  isTerminal: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  write: (text) => void output.write(text),
  complain: (text) => void process.stderr.write(text),
});

// A module that was loaded for its app may hold timers and sockets, which nobody waits for; what was written is waited for.
output.write("", () => process.stderr.write("", () => process.exit(code)));
