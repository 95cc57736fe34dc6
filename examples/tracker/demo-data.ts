import { randomBytes } from "node:crypto";
import type { Database } from "./database.ts";
import type { User } from "./schemas.ts";
import { saveUser } from "./users.ts";

export const ada: User = { id: "ada", name: "Ada", role: "maintainer" };
export const bob: User = { id: "bob", name: "Bob", role: "reviewer" };

const issues = `
  INSERT INTO issues (title, author, confidential)
  SELECT title, 'ada', confidential
  FROM (VALUES ('Crash on start', false), ('Typo on the login page', false), ('Password in the log', true))
    AS demo (title, confidential)
  WHERE NOT EXISTS (SELECT FROM issues)
`;

/** Adds two users with new tokens, and three issues if there are none. Returns the tokens. */
export async function addDemoData(db: Database): Promise<{ readonly ada: string; readonly bob: string }> {
  const tokens = { ada: randomBytes(16).toString("hex"), bob: randomBytes(16).toString("hex") };
  await saveUser(db, ada, tokens.ada);
  await saveUser(db, bob, tokens.bob);
  await db.query(issues);
  return tokens;
}
