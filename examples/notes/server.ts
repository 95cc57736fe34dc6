/** The process that an MCP host starts: `tsx examples/notes/server.ts DIR`. There is no other: it owns the notes itself. */
import { createNotesApp } from "./app.ts";
import { openNotesDirectory } from "./notes-directory.ts";

const [dir] = process.argv.slice(2);
if (dir === undefined) {
  console.error("Usage: server.ts DIR");
  process.exitCode = 2;
} else {
  const directory = await openNotesDirectory(dir);
  const serving = await createNotesApp(directory).serve();
  await serving.closed;
  await directory.close();
}
