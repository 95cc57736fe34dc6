/** `npm run tracker`: serves the tracker until Ctrl-C. `PORT` names the port, `DATABASE_URL` a Postgres server. */
import { addDemoData } from "./demo-data.ts";
import { startServer } from "./server.ts";

const { PORT = "3000", DATABASE_URL: databaseUrl } = process.env;
const server = await startServer({ databaseUrl, port: Number(PORT) }).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`Cannot start the tracker: ${reason}. If another program has the port, set PORT to a free one.`);
  process.exit(1);
});
const tokens = await addDemoData(server.db);

console.log(`The tracker runs at ${server.url} until you press Ctrl-C.

People, by REST. Ada is a maintainer, Bob a reviewer:
  curl -H "Authorization: Bearer ${tokens.ada}" ${server.url}/api/issues
  curl -H "Authorization: Bearer ${tokens.bob}" ${server.url}/api/issues

Agents, by MCP. With Ada's token, for example in Claude Code:
  claude mcp add --transport http tracker ${server.url}/mcp --header "Authorization: Bearer ${tokens.ada}"
`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
