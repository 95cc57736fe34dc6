/** The database of the tracker: PGlite in this process, or the Postgres server that `DATABASE_URL` names. */
import { PGlite } from "@electric-sql/pglite";
import { DatabaseError, Pool, type PoolClient } from "pg";
import { UnavailableError } from "./errors.ts";

/** Runs statements. Rows are objects. */
export interface Queries {
  query<TRow>(text: string, values?: readonly unknown[]): Promise<readonly TRow[]>;
}

export interface Database extends Queries {
  /** Runs statements in one transaction: all take effect, or none. */
  transaction<TResult>(run: (queries: Queries) => Promise<TResult>): Promise<TResult>;
  close(): Promise<void>;
}

// The lock keeps two processes that start at once from creating the same table.
const tables = `
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS users (
    id text PRIMARY KEY,
    name text NOT NULL,
    role text NOT NULL CHECK (role IN ('maintainer', 'reviewer')),
    token_hash text NOT NULL UNIQUE
  );
  CREATE TABLE IF NOT EXISTS issues (
    id serial PRIMARY KEY,
    title text NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    body text NOT NULL DEFAULT '',
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
    author text NOT NULL REFERENCES users,
    assignee text REFERENCES users,
    confidential boolean NOT NULL DEFAULT false
  );
  CREATE TABLE IF NOT EXISTS comments (
    id serial PRIMARY KEY,
    issue integer NOT NULL REFERENCES issues ON DELETE CASCADE,
    author text NOT NULL REFERENCES users,
    text text NOT NULL
  );
`;

async function openEmbedded(): Promise<Database> {
  const db = await PGlite.create();
  await db.exec(tables);
  const on = (runner: Pick<PGlite, "query">): Queries => ({
    query: async <TRow>(text: string, values: readonly unknown[] = []) =>
      (await runner.query<TRow>(text, [...values])).rows,
  });
  return { ...on(db), transaction: (run) => db.transaction((opened) => run(on(opened))), close: () => db.close() };
}

/** Tells a lost connection from an error that the server answers. Classes 08 and 57P are: it ends the connection. */
function toUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseError && !/^(?:08|57P)/.test(error.code ?? "")) return error;
  return new UnavailableError("the database cannot be reached", { cause: error });
}

function toQueries(runner: Pick<Pool | PoolClient, "query">): Queries {
  return {
    async query<TRow>(text: string, values: readonly unknown[] = []) {
      try {
        // Each statement selects the columns of its row type.
        return (await runner.query(text, [...values])).rows as readonly TRow[];
      } catch (error) {
        throw toUnavailable(error);
      }
    },
  };
}

async function inTransaction<TResult>(pool: Pool, run: (queries: Queries) => Promise<TResult>): Promise<TResult> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toUnavailable(error);
  });
  const queries = toQueries(client);
  try {
    await queries.query("BEGIN");
    const result = await run(queries);
    await queries.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // A connection that cannot roll back is not used again.
    await client.query("ROLLBACK").then(
      () => client.release(),
      () => client.release(true),
    );
    throw error;
  }
}

async function openServer(url: string): Promise<Database> {
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 5000 });
  // A connection reports when it breaks. The pool opens another one for the next query.
  pool.on("connect", (client) => {
    client.on("error", (error) => console.error(`database connection lost: ${error.message}`));
  });
  pool.on("error", () => {});
  await pool.query(tables).catch((error: unknown) => {
    throw toUnavailable(error);
  });
  return { ...toQueries(pool), transaction: (run) => inTransaction(pool, run), close: () => pool.end() };
}

/** Opens the database and creates its tables. The caller closes it. */
export function openDatabase(url: string | undefined): Promise<Database> {
  return url === undefined ? openEmbedded() : openServer(url);
}
