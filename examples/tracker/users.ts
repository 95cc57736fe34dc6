import { createHash } from "node:crypto";
import type { Queries } from "./database.ts";
import type { User } from "./schemas.ts";

function hash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Adds a user who signs in with a token, or replaces them. The database keeps only the hash of the token. */
export async function saveUser(db: Queries, user: User, token: string): Promise<void> {
  await db.query(
    `INSERT INTO users (id, name, role, token_hash) VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET name = $2, role = $3, token_hash = $4`,
    [user.id, user.name, user.role, hash(token)],
  );
}

/** Returns the user who signs in with a token. */
export async function findUser(db: Queries, token: string): Promise<User | undefined> {
  const [user] = await db.query<User>("SELECT id, name, role FROM users WHERE token_hash = $1", [hash(token)]);
  return user;
}
