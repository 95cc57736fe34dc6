/** Measures what a generated surface costs the compiler. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emitDeclarations } from "../scripts/emit-declarations.mjs";
import {
  handledSource,
  handWrittenKinds,
  handWrittenSource,
  projectionSource,
  schemasSource,
  surfaceSource,
} from "./surface-source.mjs";
import { routerSource } from "./router-source.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const scratch = join(root, ".scratch");

function compile(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, ...args, "--pretty", "false"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Measuring the cost of types: the compiler failed\n${stdout}${stderr}`);
  return stdout;
}

function readDiagnostic(output, name) {
  const found = new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(output);
  if (found === null) throw new Error(`Reading the compiler's diagnostics: there is no line "${name}" in\n${output}`);
  return Number(found[1]);
}

/** Compiles one source by itself, with one checker, so that nothing is counted twice. */
function measureSource(folder, source) {
  const config = join(folder, "tsconfig.json");
  const compilerOptions = {
    noUnusedLocals: false,
    skipLibCheck: true,
    rootDir: root,
    paths: {
      "surface-mcp": ["./package/index.d.ts"],
      "surface-mcp/from/*": ["./package/from/*/index.d.ts"],
    },
  };
  writeFileSync(join(folder, "surface.ts"), source);
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: ["surface.ts"] }),
  );
  const output = compile(["-p", config, "--noEmit", "--extendedDiagnostics", "--checkers", "1"]);
  return {
    instantiations: readDiagnostic(output, "Instantiations"),
    checkSeconds: readDiagnostic(output, "Check time"),
    memoryMb: Math.round(readDiagnostic(output, "Memory used") / 1024),
  };
}

/**
 * Runs something in a folder with the declarations, which is removed after it. Users compile against declarations, and so does this:
 * the package's own code is not part of the cost.
 */
async function withDeclarations(run) {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, "type-cost-"));
  try {
    await emitDeclarations(join(folder, "package"), { noCheck: true });
    return run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What it costs besides to project a surface of this size into another: a row as those of {@link measureTypeCost}. */
export function measureProjectionCost(members) {
  return withDeclarations((folder) => {
    const whole = measureSource(folder, projectionSource(members));
    const { instantiations } = measureSource(folder, projectionSource(members, { derived: false }));
    return { members, ...whole, perMember: (whole.instantiations - instantiations) / members };
  });
}

/** What it costs besides to expose every procedure of a source of this kind and size: a row as those of {@link measureTypeCost}. */
export function measureRouterCost(kind, procedures) {
  return withDeclarations((folder) => {
    const costOf = (count, mounted) => measureSource(folder, routerSource(kind, count, { mounted }));
    const whole = costOf(procedures, true);
    const own =
      costOf(procedures, false).instantiations + costOf(0, true).instantiations - costOf(0, false).instantiations;
    return { kind, procedures, ...whole, perProcedure: (whole.instantiations - own) / procedures };
  });
}

/** What an entry costs that is no member, by kind, and what a member costs with its handler: the first, and each further one. */
export function measureHandlerCost(entries) {
  return withDeclarations((folder) => {
    const measure = (kind, sourceOf) => {
      const [none, one, all] = [0, 1, entries].map((count) => measureSource(folder, sourceOf(count)).instantiations);
      return { kind, first: one - none, each: (all - one) / (entries - 1) };
    };
    return [
      ...handWrittenKinds.map((kind) => measure(kind, (count) => handWrittenSource(kind, count))),
      measure("members with handlers", handledSource),
    ];
  });
}

/**
 * What surfaces of these sizes cost, a row each. The cost of a member is what the whole program instantiates more than
 * the same program without a generated member, by their number: schemas and everything else that the author wrote for
 * it are part of it. `schemasPerMember` is the same for a program that defines the schemas and nothing else.
 */
export function measureTypeCost(sizes) {
  return withDeclarations((folder) => {
    const base = measureSource(folder, surfaceSource(0)).instantiations;
    const schemasBase = measureSource(folder, schemasSource(0)).instantiations;
    return sizes.map((members) => {
      const whole = measureSource(folder, surfaceSource(members));
      const schemas = measureSource(folder, schemasSource(members)).instantiations;
      return {
        members,
        ...whole,
        perMember: (whole.instantiations - base) / members,
        schemasPerMember: (schemas - schemasBase) / members,
      };
    });
  });
}
