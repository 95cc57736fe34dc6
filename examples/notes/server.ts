/** The process that an MCP host starts: `tsx examples/notes/server.ts DIR`. There is no other: it owns the notes itself. */
import { createNotesApp } from "./app.ts";
import { openNotesDirectory } from "./notes-directory.ts";

const [dir] = process.argv.slice(2);
if (dir === undefined) {
  console.error("Usage: server.ts DIR");
  process.exitCode = 2;
} else {
  // Nothing is closed behind it: the process ends with its host, and by the time a call is answered its file is whole.
  await createNotesApp(await openNotesDirectory(dir)).serve();
}
