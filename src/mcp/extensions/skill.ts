import type { EntryGuard } from "../../catalog/entry.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { Extension } from "./extensions.ts";

/** A file of a skill. */
export interface SkillFile {
  /** `skill://<surface>/<skill>/<path>`. */
  readonly uri: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Returns the bytes. @throws SurfaceError `INVALID_OUTPUT` if the file has changed since the skill was read. */
  read(): Promise<Uint8Array>;
}

/** Instructions and files for a model, which a host loads on demand. */
export interface Skill extends EntryGuard {
  /** `skills/<name>`: the id in patterns of views. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly frontmatter: JsonObject;
  /** Sorted by URI. */
  readonly files: readonly SkillFile[];
}

/** The extension that serves the skills of an open app. */
export interface OpenSkills extends Extension {
  readonly skills: readonly Skill[];
}

/** The skills of an app, as `skillsFolder()` creates them. */
export interface SkillSource {
  /**
   * Reads the skills.
   *
   * @param surface - the name of the surface, which begins their URIs.
   * @param guard - the rights that each requires.
   * @throws SurfaceError `INVALID_OPTION`.
   */
  open(surface: string, guard: EntryGuard): OpenSkills;
}
