import { z } from "zod";

export const User = z.object({
  id: z.string(),
  name: z.string(),
  /** Maintainers change issues and see confidential ones. Reviewers only read. */
  role: z.enum(["maintainer", "reviewer"]),
});
export type User = z.infer<typeof User>;

export const Issue = z.object({
  id: z.int32().positive(),
  title: z.string().min(1).max(200),
  body: z.string(),
  state: z.enum(["open", "closed"]),
  author: z.string(),
  assignee: z.string().nullable(),
  confidential: z.boolean(),
});
export type Issue = z.infer<typeof Issue>;

export const NewIssue = z.object({
  title: Issue.shape.title,
  body: z.string().default(""),
  confidential: z.boolean().default(false),
});
export type NewIssue = z.infer<typeof NewIssue>;

export const Closing = z.object({ comment: z.string().min(1) });

export const Assignment = z.object({ assignee: z.string().describe("The id of a user") });

export const Search = z.object({
  text: z.string().optional().describe("Text in the title or body"),
  state: Issue.shape.state.optional(),
  after: Issue.shape.id.optional().describe("The `next` of the page before"),
  limit: z.int32().min(1).max(100).default(20),
});
export type Search = z.infer<typeof Search>;

export const Page = z.object({
  items: z.array(Issue),
  /** Left out on the last page. */
  next: Issue.shape.id.optional(),
});
export type Page = z.infer<typeof Page>;
