import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, type Dirent } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EntryGuard } from "../../catalog/entry.ts";
import { SurfaceError } from "../../errors.ts";
import { readFrontmatter } from "./frontmatter.ts";
import type { Skill, SkillFile, SkillSource } from "./skill.ts";
import { createSkillsExtension } from "./skills-extension.ts";

/** The limits up to which hosts must accept a skill. */
const maxFiles = 512;
const maxBytes = 16_777_216;
const maxDepth = 16;

const mimeTypes: Readonly<Record<string, string>> = {
  ...{
    md: "text/markdown",
    txt: "text/plain",
    csv: "text/csv",
    html: "text/html",
    css: "text/css",
    svg: "image/svg+xml",
  },
  ...{ json: "application/json", yaml: "application/yaml", yml: "application/yaml", pdf: "application/pdf" },
  ...{
    js: "text/javascript",
    mjs: "text/javascript",
    ts: "text/typescript",
    py: "text/x-python",
    sh: "application/x-sh",
  },
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" },
};

function mimeTypeOf(name: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return (Object.hasOwn(mimeTypes, extension) ? mimeTypes[extension] : undefined) ?? "application/octet-stream";
}

function unreadable(path: string, problem: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Cannot read the skill file "${path}": ${problem}`);
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

// Control characters, backslashes, and what stands for bytes that are no UTF-8: hosts write files under these names.
// oxlint-disable-next-line no-control-regex -- control characters are what it is for
const badName = /[\u0000-\u001f\u007f\\\ufffd]/;

function list(folder: string): readonly Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter(({ name }) => !name.startsWith("."))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  } catch (cause) {
    throw new SurfaceError("INVALID_OPTION", `Cannot read skills: the folder "${folder}" cannot be listed`, { cause });
  }
}

/** Reads the files of one skill. */
class SkillReader {
  readonly files: SkillFile[] = [];
  /** The bytes of its `SKILL.md`; `undefined` without one. */
  manifest: Uint8Array | undefined;
  readonly #manifestUri: string;
  #bytes = 0;

  /** @param uri - the start of the URIs of all files. */
  constructor(uri: string) {
    this.#manifestUri = `${uri}/SKILL.md`;
  }

  read(folder: string, uri: string, depth = 0): void {
    for (const entry of list(folder)) {
      const { name } = entry;
      const path = join(folder, name);
      if (badName.test(name)) throw unreadable(path, "its name has a control character or a backslash; rename it");
      const inside = `${uri}/${encodeURIComponent(name)}`;
      if (entry.isDirectory() && depth < maxDepth) this.read(path, inside, depth + 1);
      else if (entry.isFile()) this.files.push(this.#readFile(path, inside));
      else throw unreadable(path, "it is a link, a device or too deep; copy the file");
    }
  }

  #readFile(path: string, uri: string): SkillFile {
    this.#bytes += lstatSync(path).size;
    if (this.files.length >= maxFiles || this.#bytes > maxBytes) {
      throw unreadable(path, `a skill has at most ${maxFiles} files and 16 MiB; split it`);
    }
    const bytes = readFileSync(path);
    if (uri === this.#manifestUri) this.manifest = bytes;
    const [digest, size] = [digestOf(bytes), bytes.length];
    const read = async (): Promise<Uint8Array> => {
      const isSame = lstatSync(path, { throwIfNoEntry: false })?.size === size;
      const now = isSame ? await readFile(path) : undefined;
      if (now !== undefined && digestOf(now) === digest) return now;
      throw new SurfaceError(
        "INVALID_OUTPUT",
        `Cannot read "${path}": it has changed since the app was opened; open it again`,
      );
    };
    return { uri, mimeType: mimeTypeOf(path), size, digest, read };
  }
}

const namePattern = /^(?=.{1,64}$)[\da-z]+(?:-[\da-z]+)*$/;

function readSkill(folder: string, base: string, guard: EntryGuard): Skill {
  const name = folder.split(/[/\\]/).at(-1) ?? "";
  const uri = `${base}/${name}`;
  const reader = new SkillReader(uri);
  reader.read(folder, uri);
  const path = join(folder, "SKILL.md");
  // The bytes of the digest, and not those of a file that was written meanwhile.
  const { manifest } = reader;
  if (manifest === undefined) throw unreadable(path, "every folder of skills must have one");
  const frontmatter = readFrontmatter(new TextDecoder().decode(manifest));
  const { description } = frontmatter;
  if (frontmatter["name"] !== name || !namePattern.test(name)) {
    throw unreadable(path, `"name" must be that of its folder: 1 to 64 lower-case letters, digits and single "-"`);
  }
  if (typeof description !== "string" || description.trim() === "" || Array.from(description).length > 1024) {
    throw unreadable(path, '"description" must be a text of 1 to 1024 characters');
  }
  const files = reader.files.toSorted((left, right) => (left.uri < right.uri ? -1 : 1));
  return Object.freeze({ ...guard, id: `skills/${name}`, name, description, frontmatter, files });
}

function toPath(folder: unknown): string {
  if (typeof folder === "string" && folder !== "") return folder;
  if (folder instanceof URL && folder.protocol === "file:") return fileURLToPath(folder);
  throw new SurfaceError("INVALID_OPTION", "Cannot create skills: the folder must be a path or a file: URL");
}

/**
 * Creates the skills of a folder, one from each subfolder with a `SKILL.md`. Whenever the app is opened, all files are read and
 * checked. A file that changes later is withheld until then.
 *
 * @param folder - a path or a `file:` URL.
 * @throws SurfaceError `INVALID_OPTION`; when the app is opened also for a folder or a skill that does not fit.
 * @example
 * ```ts
 * const app = mcp(counter, { skills: skillsFolder("./skills") });
 * ```
 */
export function skillsFolder(folder: string | URL): SkillSource {
  const root = toPath(folder);
  return Object.freeze({
    open(surface: string, guard: EntryGuard) {
      const skills = list(root)
        .filter((entry) => !entry.isFile())
        .map((entry) => {
          if (!entry.isDirectory())
            throw unreadable(join(root, entry.name), "it is a link or a device; copy the folder");
          return readSkill(join(root, entry.name), `skill://${surface}`, guard);
        });
      return createSkillsExtension(skills);
    },
  });
}
