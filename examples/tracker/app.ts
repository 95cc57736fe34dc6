/** The app without a database, for `surface-mcp lock` and `check`: they read what agents can reach, and call nothing. */
import type { Database } from "./database.ts";
import { UnavailableError } from "./errors.ts";
import { createAgentApp } from "./mcp.ts";

const unavailable = (): Promise<never> => Promise.reject(new UnavailableError("there is no database"));
const noDatabase: Database = { query: unavailable, transaction: unavailable, close: () => Promise.resolve() };

export const app = createAgentApp(noDatabase);
