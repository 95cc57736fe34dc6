/** The rules of the tracker: who may do what with issues. */
import type { Database, Queries } from "./database.ts";
import { ConflictError, ForbiddenError, NotFoundError } from "./errors.ts";
import { Issue, type NewIssue, type Page, type Search, type User } from "./schemas.ts";

const columns = "id, title, body, state, author, assignee, confidential";

/** A reader who sees what every user sees. */
export const everyone: Reader = { role: "reviewer" };
type Reader = Pick<User, "role">;

const seesConfidential = ({ role }: Reader): boolean => role === "maintainer";

function assertMaintainer({ role }: User): void {
  if (role !== "maintainer") throw new ForbiddenError("only maintainers may change issues");
}

/** Returns a page of issues, the newest first. */
export async function searchIssues(db: Queries, reader: Reader, search: Search): Promise<Page> {
  const { text = null, state = null, after = null, limit } = search;
  const rows = await db.query<Issue>(
    `SELECT ${columns} FROM issues
     WHERE ($1::int IS NULL OR id < $1) AND (NOT confidential OR $2) AND ($3::text IS NULL OR state = $3)
       AND ($4::text IS NULL OR position(lower($4) in lower(title || ' ' || body)) > 0)
     ORDER BY id DESC LIMIT $5`,
    [after, seesConfidential(reader), state, text, limit + 1],
  );
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, next: last.id } : { items };
}

/** Counts the open issues that every user may see. */
export async function countOpen(db: Queries): Promise<number> {
  const [row] = await db.query<{ open: number }>(
    "SELECT count(*)::int AS open FROM issues WHERE state = 'open' AND NOT confidential",
  );
  return row?.open ?? 0;
}

/** Returns an issue, or `undefined` also for one that the reader may not see. */
export async function findIssue(db: Queries, reader: Reader, id: number): Promise<Issue | undefined> {
  const [issue] = await db.query<Issue>(`SELECT ${columns} FROM issues WHERE id = $1 AND (NOT confidential OR $2)`, [
    id,
    seesConfidential(reader),
  ]);
  return issue;
}

/** @throws NotFoundError also for an issue that the reader may not see. */
export async function getIssue(db: Queries, reader: Reader, id: number): Promise<Issue> {
  const issue = await findIssue(db, reader, id);
  if (issue === undefined) throw new NotFoundError(`there is no issue ${id}`);
  return issue;
}

export async function createIssue(db: Queries, user: User, { title, body, confidential }: NewIssue): Promise<Issue> {
  assertMaintainer(user);
  const [created] = await db.query<Issue>(
    `INSERT INTO issues (title, body, confidential, author) VALUES ($1, $2, $3, $4) RETURNING ${columns}`,
    [title, body, confidential, user.id],
  );
  return Issue.parse(created);
}

/** Closes an issue with a comment: both or neither. @throws ConflictError if the issue is closed already. */
export function closeIssue(db: Database, user: User, closing: { id: number; comment: string }): Promise<Issue> {
  const { id, comment } = closing;
  assertMaintainer(user);
  return db.transaction(async (queries) => {
    await getIssue(queries, user, id);
    const [closed] = await queries.query<Issue>(
      `UPDATE issues SET state = 'closed' WHERE id = $1 AND state = 'open' RETURNING ${columns}`,
      [id],
    );
    if (closed === undefined) throw new ConflictError(`issue ${id} is closed already`);
    await queries.query("INSERT INTO comments (issue, author, text) VALUES ($1, $2, $3)", [id, user.id, comment]);
    return closed;
  });
}

export async function assignIssue(
  db: Queries,
  user: User,
  { id, assignee }: { id: number; assignee: string },
): Promise<Issue> {
  assertMaintainer(user);
  const [known] = await db.query("SELECT id FROM users WHERE id = $1", [assignee]);
  if (known === undefined) throw new NotFoundError(`there is no user "${assignee}"`);
  const [assigned] = await db.query<Issue>(`UPDATE issues SET assignee = $2 WHERE id = $1 RETURNING ${columns}`, [
    id,
    assignee,
  ]);
  if (assigned === undefined) throw new NotFoundError(`there is no issue ${id}`);
  return assigned;
}

/** Deletes an issue with its comments. */
export async function deleteIssue(db: Queries, user: User, id: number): Promise<void> {
  assertMaintainer(user);
  await db.query("DELETE FROM issues WHERE id = $1", [id]);
}
