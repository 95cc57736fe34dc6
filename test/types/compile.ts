import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { compileDeclarations, emitDeclarations as emitPackage } from "../../scripts/emit-declarations.mjs";
import { root } from "../architecture/source.ts";

const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const scratch = join(root, ".scratch");

/** Where one test writes what it compiles: inside the repository, so that packages are found. */
export interface Workshop {
  readonly folder: string;
  /** Writes a file below the folder, and the folders that it needs. */
  write(path: string, text: string): void;
  remove(): void;
}

/** One complaint of the compiler. */
export interface Diagnostic {
  /** Relative to the workshop's folder. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;
  readonly code: string;
  /** All lines of it. */
  readonly message: string;
}

export function createWorkshop(name: string): Workshop {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, `${name}-`));
  return {
    folder,
    write(path, text) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function runCompiler(args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const run = spawnSync(process.execPath, [compiler, ...args, "--pretty", "false", "--checkers", "1"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  return { status: run.status, output: run.stdout + run.stderr };
}

/** Writes the package's declarations below the workshop as the build does, from the sources as they are now. */
export function emitDeclarations(workshop: Workshop, path = "package"): Promise<void> {
  return emitPackage(join(workshop.folder, path), { noCheck: true });
}

/** Writes a declaration for each source below the workshop. */
export function emitSeparateDeclarations(workshop: Workshop): void {
  compileDeclarations(join(workshop.folder, "package"), { noCheck: true });
}

function parseDiagnostics(output: string, folder: string): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const line of output.split("\n")) {
    const head = /^(.+?)\((\d+),(\d+)\): error (TS\d+): (.*)$/.exec(line);
    if (head !== null) {
      const [, file = "", row, column, code = "", message = ""] = head;
      found.push({
        file: relative(folder, join(root, file)),
        line: Number(row),
        column: Number(column),
        code,
        message,
      });
      continue;
    }
    const last = found.at(-1);
    if (last !== undefined && line.startsWith("  "))
      found[found.length - 1] = { ...last, message: `${last.message}\n${line}` };
  }
  return found;
}

/**
 * Compiles the workshop's files as a user of the package would, with the package's own settings for strictness.
 *
 * @param include - patterns of the files to compile, relative to the workshop.
 * @throws when the compiler did not get as far as checking.
 */
export function compile(workshop: Workshop, include: readonly string[]): readonly Diagnostic[] {
  const paths = {
    "surface-mcp": ["./package/index.d.ts"],
    "surface-mcp/http": ["./package/http/index.d.ts"],
    "surface-mcp/testing": ["./package/testing/index.d.ts"],
    "surface-mcp/from/openapi": ["./package/from/openapi/index.d.ts"],
    "surface-mcp/from/orpc": ["./package/from/orpc/index.d.ts"],
    "surface-mcp/from/trpc": ["./package/from/trpc/index.d.ts"],
  };
  const compilerOptions = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    skipLibCheck: true,
    rootDir: root,
    paths,
  };
  workshop.write("tsconfig.json", JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include }));
  const { status, output } = runCompiler(["-p", workshop.folder, "--noEmit", "--noErrorTruncation"]);
  const diagnostics = parseDiagnostics(output, workshop.folder);
  if (status !== 0 && diagnostics.length === 0) throw new Error(`Compiling a workshop: the compiler failed\n${output}`);
  return diagnostics;
}

/** Writes the declaration of one of the workshop's files, as a user's own build would. */
export function emitProject(
  workshop: Workshop,
  file: string,
): { readonly problems: readonly string[]; readonly text: string } {
  const compilerOptions = {
    target: "ES2022",
    module: "NodeNext",
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: "out",
    types: ["node"],
  };
  workshop.write("tsconfig.json", JSON.stringify({ compilerOptions, files: [file] }));
  const { output } = runCompiler(["-p", workshop.folder]);
  const declaration = join(workshop.folder, "out", file.replace(/\.ts$/, ".d.ts"));
  return {
    problems: parseDiagnostics(output, workshop.folder).map(({ message }) => message),
    text: existsSync(declaration) ? readFileSync(declaration, "utf8") : "",
  };
}
