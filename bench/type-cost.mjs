/** Measures what a generated surface costs the compiler. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { surfaceSource } from "./surface-source.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const scratch = join(root, ".scratch");

function readDiagnostic(output, name) {
  const found = new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(output);
  if (found === null) throw new Error(`Reading the compiler's diagnostics: there is no line "${name}" in\n${output}`);
  return Number(found[1]);
}

/** Compiles one source by itself, with one checker, so that nothing is counted twice. */
function compile(folder, source) {
  const file = join(folder, "surface.ts");
  const config = join(folder, "tsconfig.json");
  writeFileSync(file, source);
  const compilerOptions = { noUnusedLocals: false, skipLibCheck: true, rootDir: root };
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: ["surface.ts"] }),
  );
  const args = [compiler, "-p", config, "--noEmit", "--extendedDiagnostics", "--checkers", "1", "--pretty", "false"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`Compiling a generated surface: the compiler failed\n${stdout}${stderr}`);
  return {
    instantiations: readDiagnostic(stdout, "Instantiations"),
    checkSeconds: readDiagnostic(stdout, "Check time"),
    memoryMb: Math.round(readDiagnostic(stdout, "Memory used") / 1024),
  };
}

/**
 * What a surface of so many members costs. The cost of a member is what the whole program instantiates more than the
 * same program over a surface with no generated member, by the number of members: schemas and everything else that
 * the author wrote are part of it.
 */
export function measureTypeCost(members) {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, "type-cost-"));
  try {
    const base = compile(folder, surfaceSource(0));
    const schemasBase = compile(folder, surfaceSource(0, { schemasOnly: true }));
    const schemas = compile(folder, surfaceSource(members, { schemasOnly: true }));
    const whole = compile(folder, surfaceSource(members));
    return {
      members,
      ...whole,
      perMember: (whole.instantiations - base.instantiations) / members,
      schemasPerMember: (schemas.instantiations - schemasBase.instantiations) / members,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
