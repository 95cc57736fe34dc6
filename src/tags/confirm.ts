import { isRecord } from "../options/is-object.ts";
import { option, type Option } from "../options/option.ts";
import type { Confirm, ConfirmFunction, ConfirmRule, ToolOptions } from "./tool-options.ts";

/** Words that a user can read and type: letters with their marks, and digits; single spaces, "-" or "_" between words. */
const typeable = /^(?=.{1,64}$)[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[ _-][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*$/u;

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  otherwise: (value) => value === "refuse" || value === "allow",
  type: (value) => typeof value === "string" && typeable.test(value),
  message: (value) => typeof value === "function",
};

function isConfirm(confirm: unknown): confirm is Confirm {
  if (typeof confirm === "boolean" || typeof confirm === "function") return true;
  if (!isRecord(confirm)) return false;
  return Object.entries(confirm).every(([key, value]) => {
    return Object.hasOwn(fits, key) && (value === undefined || fits[key]?.(value) === true);
  });
}

/** The schema of the option `confirm`. */
export const confirmOption: Option = option(
  'true, false, a function or { otherwise?: "refuse" | "allow", type?: "WORD", message?: function }; "type" takes 1 to 64 letters and digits; single spaces, "-" and "_" may separate words',
  isConfirm,
);

/** Returns a frozen copy of the option `confirm` if it is an object, so that the author cannot change it later. */
export function freezeConfirm({ confirm }: Pick<ToolOptions, "confirm">): Pick<ToolOptions, "confirm"> {
  return typeof confirm === "object" ? { confirm: Object.freeze({ ...confirm }) } : {};
}

/** Returns the rule of an entry; `undefined` without the option. */
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
