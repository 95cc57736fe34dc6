#!/usr/bin/env node
import { homedir } from "node:os";
import { runCli } from "./run-cli.ts";

// Whoever reads what is written may go before its end.
process.stdout.on("error", () => process.exit(1));

const code = await runCli(process.argv.slice(2), {
  home: homedir(),
  cwd: process.cwd(),
  platform: process.platform,
  env: process.env,
  isTerminal: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  write: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});

// A module that was loaded for its app may hold timers and sockets, which nobody waits for; what was written is waited for.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
