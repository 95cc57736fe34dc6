/** One error of the TypeScript compiler, read from its output. */
export interface CompilerError {
  /** As the compiler printed it: relative to the folder it ran in. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** `TS` and a number. */
  readonly code: string;
  readonly message: string;
  /** The name the compiler itself proposes, from its closing question "Did you mean 'x'?". */
  readonly suggestion?: string;
}

/** `file(line,column): error TS1: text`, and with `--pretty` `file:line:column - error TS1: text`. */
const LINE =
  /^(?<file>\S.{0,1000}?)(?:\((?<line>\d{1,7}),(?<column>\d{1,7})\):|:(?<line2>\d{1,7}):(?<column2>\d{1,7}) -) error (?<code>TS\d{1,6}): (?<message>.+)$/;

const SUGGESTION = /Did you mean '(?<name>[^']+)'\?$/;

/** Finds the compiler's errors in a log, in order. The indented lines that elaborate on an error are left out. */
export function parseCompilerErrors(log: string): readonly CompilerError[] {
  return log.split("\n").flatMap((line) => {
    const error = toCompilerError(line);
    return error ? [error] : [];
  });
}

function toCompilerError(text: string): CompilerError | undefined {
  const found = LINE.exec(text)?.groups;
  if (!found) return undefined;
  const message = found["message"] ?? "";
  const suggestion = suggestionIn(message);
  return {
    file: found["file"] ?? "",
    line: Number(found["line"] ?? found["line2"]),
    column: Number(found["column"] ?? found["column2"]),
    code: found["code"] ?? "",
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** The name that a compiler message proposes at its end; `undefined` when it proposes none. */
export function suggestionIn(message: string): string | undefined {
  return SUGGESTION.exec(message)?.groups?.["name"];
}
