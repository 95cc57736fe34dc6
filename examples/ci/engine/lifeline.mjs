/**
 * Runs a command for somebody who may be killed at any time: `node lifeline.mjs PROGRAM [ARGUMENT …]`, as the leader of a
 * process group of its own. Standard input is the lifeline: its end, which no way of dying can keep from coming, kills the
 * whole group. How the command ended is written to descriptor 3, as JSON; then it waits for that end, so that nothing
 * that the command has left behind outlives the lifeline either.
 *
 * Plain JavaScript, since it is on the way of every command: a compiler in front would cost more than the rest.
 */
import { spawn } from "node:child_process";
import { closeSync, writeSync } from "node:fs";

const REPORT = 3;
/** The group of whoever sends. */
const OWN_GROUP = 0;

const killGroup = () => process.kill(OWN_GROUP, "SIGKILL");
process.stdin.on("end", killGroup).on("error", killGroup).resume();
// The command hears these as well, and what it makes of them is to be reported.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});

const report = (outcome) => {
  writeSync(REPORT, JSON.stringify(outcome));
  closeSync(REPORT);
};
const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"] });
child.once("error", (error) => {
  // An error of a child that runs is about a signal, and "exit" is still to come.
  if (child.pid === undefined) report({ kind: "unstartable", reason: error.message });
});
child.once("exit", (code, signal) => {
  report(code === null ? { kind: "signalled", signal: signal ?? "unknown" } : { kind: "exited", code });
});
