import { randomUUID } from "node:crypto";

export interface User {
  readonly id: string;
  readonly isStaff: boolean;
  /** New at each start. Your shop keeps a digest of it in its database. */
  readonly token: string;
}

export const ada: User = { id: "ada", isStaff: false, token: randomUUID() };
export const bob: User = { id: "bob", isStaff: false, token: randomUUID() };
export const sam: User = { id: "sam", isStaff: true, token: randomUUID() };

const users = [ada, bob, sam];

/** Returns the user with an id or a token. */
export function findUser(by: "id" | "token", value: string): User | undefined {
  return users.find((user) => user[by] === value);
}
