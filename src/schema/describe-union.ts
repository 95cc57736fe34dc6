import type { StandardSchemaV1 } from "@standard-schema/spec";

const maxOptions = 4;
// Each level multiplies by maxOptions, so a recursive union must not be followed down.
const maxLevels = 2;

/**
 * Says why no option of a union fits. Zod's message for a failed union is only "Invalid input"; what each option
 * disliked sits in a non-standard `errors` list, one list of issues an option. Returns undefined for an issue without
 * it, whose own message is better.
 */
export function describeUnion(issue: StandardSchemaV1.Issue, level = 1): string | undefined {
  const errors = optionErrors(issue);
  if (errors.length === 0 || level > maxLevels) return undefined;
  const reasons = errors.slice(0, maxOptions).map((option) => describeOption(option, level));
  const rest = errors.length > maxOptions ? `; and ${errors.length - maxOptions} more options` : "";
  return `no option fits: ${[...new Set(reasons)].join("; or ")}${rest}`;
}

function describeOption(option: unknown, level: number): string {
  const first: unknown = Array.isArray(option) ? option[0] : undefined;
  if (!isIssue(first)) return "invalid";
  const path = (first.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment));
  const message = describeUnion(first, level + 1) ?? first.message;
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

function optionErrors(issue: object): readonly unknown[] {
  const errors: unknown = "errors" in issue ? issue.errors : undefined;
  return Array.isArray(errors) ? errors : [];
}

function isIssue(value: unknown): value is StandardSchemaV1.Issue {
  return typeof value === "object" && value !== null && "message" in value;
}
