import { option, type Option } from "../options/option.ts";
import type { ConfirmFunction, Confirm, ConfirmRule, ToolOptions } from "./tool-options.ts";

const fates: ReadonlySet<unknown> = new Set([undefined, "refuse", "allow"]);

/** Words that a user can read and type: letters with their marks, and digits; single spaces, "-" or "_" between words. */
const typeable = /^(?=.{1,64}$)[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[ _-][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*$/u;

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  otherwise: (value) => fates.has(value),
  type: (value) => value === undefined || (typeof value === "string" && typeable.test(value)),
  message: (value) => value === undefined || typeof value === "function",
};

function isConfirm(confirm: unknown): confirm is Confirm {
  if (typeof confirm === "boolean" || typeof confirm === "function") return true;
  if (typeof confirm !== "object" || confirm === null || Array.isArray(confirm)) return false;
  return Object.entries(confirm).every(([key, value]) => Object.hasOwn(fits, key) && fits[key]?.(value) === true);
}

/** Says whether and how users are asked. */
export const confirmOption: Option = option(
  'true, false, a function or { otherwise?: "refuse" | "allow", type?: "WORD", message?: function }; "type" takes 1 to 64 letters and digits; single spaces, "-" and "_" may separate words',
  isConfirm,
);

/** A copy of what is said of it, that its author cannot change any more. */
export function keepConfirm({ confirm }: Pick<ToolOptions, "confirm">): Pick<ToolOptions, "confirm"> {
  return typeof confirm === "object" ? { confirm: Object.freeze({ ...confirm }) } : {};
}

/** The same, as an entry keeps it; `undefined` where nothing is said of it. */
export function toConfirmRule(confirm: Confirm | undefined): ConfirmRule | undefined {
  if (confirm === undefined) return undefined;
  if (typeof confirm === "boolean") return confirm ? "refuse" : "never";
  return (typeof confirm === "function" ? undefined : confirm.otherwise) ?? "refuse";
}

/** Returns the function that writes the question, if the author gave one. */
export function toConfirmFunction(confirm: Confirm | undefined): ConfirmFunction | undefined {
  if (typeof confirm === "function") return confirm;
  return typeof confirm === "object" ? confirm.message : undefined;
}

/** Returns the word that the user must type, in Unicode NFC: keyboards differ in how they compose letters. */
export function toConfirmWord(confirm: Confirm | undefined): string | undefined {
  return typeof confirm === "object" ? confirm.type?.normalize("NFC") : undefined;
}
