import { authorise } from "../../call/authorise.ts";
import type { ResourceBody } from "../../catalog/entry.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { ExtensionClient } from "./extensions.ts";
import type { Handler } from "../handlers.ts";
import { createPagedList, unknownCursor } from "../lists.ts";
import { badUri, ownParam, toDeniedError, toRpcResult, toUnknownError, writeJson } from "../protocol.ts";
import type { McpRequest, RpcAnswer } from "../protocol.ts";
import type { OpenSkills, Skill, SkillFile } from "./skill.ts";

/** Entries on a page: hosts read all pages of this extension. */
const pageSize = 100;

const noSkill = toUnknownError("Invalid params: there is no such skill");
const noFolder = toUnknownError("Invalid params: there is no such directory");

function uriOf({ files, name }: Skill): string {
  return files.find(({ uri }) => uri.endsWith(`/${name}/SKILL.md`))?.uri ?? "";
}

/** Returns the JSON text of a skill as `skills/list` shows it. */
export function describeSkill(skill: Skill): string {
  const resources = skill.files.map(({ uri, digest, size }) => ({ uri, digest, size }));
  return writeJson({ uri: uriOf(skill), frontmatter: skill.frontmatter, resources });
}

function nameOf(uri: string): string {
  return decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
}

function describeFile({ uri, mimeType, size }: SkillFile): string {
  return writeJson({ uri, name: nameOf(uri), mimeType, size });
}

/** A directory of a skill, with its children as JSON texts. */
interface Folder {
  readonly skill: Skill;
  readonly children: readonly string[];
}

/** Returns the directories of a skill by their URIs. */
function readFolders(skill: Skill): readonly (readonly [string, Folder])[] {
  const root = uriOf(skill).slice(0, -"/SKILL.md".length);
  const folders = new Map<string, Map<string, string>>();
  for (const file of skill.files) {
    let { uri } = file;
    let text = describeFile(file);
    while (uri !== root) {
      const parent = uri.slice(0, uri.lastIndexOf("/"));
      folders.set(parent, (folders.get(parent) ?? new Map<string, string>()).set(uri, text));
      uri = parent;
      text = writeJson({ uri, name: nameOf(uri), mimeType: "inode/directory" });
    }
  }
  return Array.from(folders, ([uri, children]) => [uri, { skill, children: [...children.values()] }] as const);
}

function toPage(key: string, items: readonly string[], params: JsonObject | undefined): RpcAnswer {
  const { cursor } = params ?? {};
  if (cursor !== undefined && typeof cursor !== "string") return unknownCursor;
  return createPagedList({ key, items, pageSize }).page(params);
}

async function toBody(file: SkillFile): Promise<ResourceBody> {
  const { mimeType } = file;
  const bytes = await file.read();
  try {
    // A text only if it keeps every byte: a host compares the digest.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { mimeType, text, isWhole: true };
  } catch {
    return { mimeType, blob: Buffer.from(bytes).toString("base64"), isWhole: true };
  }
}

/** Creates the extension that serves skills (SEP-2640). A skill is shown to the callers whose view and scopes show it. */
export function createSkillsExtension(skills: readonly Skill[]): OpenSkills {
  const texts = new Map(skills.map((skill) => [skill, describeSkill(skill)]));
  const byUri = new Map(skills.map((skill) => [uriOf(skill), skill]));
  const folders = new Map(skills.flatMap(readFolders));
  const byFile = new Map(skills.flatMap((skill) => skill.files.map((file) => [file.uri, { skill, file }])));

  const shownTo = ({ view, caller }: Pick<ExtensionClient, "view" | "caller">): readonly Skill[] =>
    skills.filter((skill) => view.shows(skill) && authorise(caller, skill) === undefined);
  /** Returns the answer for a skill that the caller must not read; `undefined` if it may. */
  const refuse = (
    skill: Skill | undefined,
    { view, call }: McpRequest,
    unknown: typeof noSkill,
  ): RpcAnswer | undefined => {
    if (skill === undefined || !view.shows(skill)) return unknown;
    const missing = authorise(call.caller, skill);
    return missing && toDeniedError(missing.scopes, unknown);
  };

  const listSkills: Handler = (params, { view, call }) =>
    toPage(
      "skills",
      shownTo({ view, caller: call.caller }).map((skill) => texts.get(skill) ?? ""),
      params,
    );
  const getSkill: Handler = (params, request) => {
    const uri = ownParam(params, "uri");
    if (typeof uri !== "string") return badUri;
    const skill = byUri.get(uri);
    const refused = refuse(skill, request, noSkill);
    return refused ?? toRpcResult(`"skill":${(skill && texts.get(skill)) ?? "{}"}`, { cacheable: true });
  };
  const readFolder: Handler = (params, request) => {
    const uri = ownParam(params, "uri");
    if (typeof uri !== "string") return badUri;
    const folder = folders.get(uri);
    return refuse(folder?.skill, request, noFolder) ?? toPage("resources", folder?.children ?? [], params);
  };
  return Object.freeze({
    id: "io.modelcontextprotocol/skills",
    skills,
    settings: (client: ExtensionClient) => (shownTo(client).length === 0 ? undefined : { directoryRead: true }),
    methods: { "skills/list": listSkills, "skills/get": getSkill, "resources/directory/read": readFolder },
    resource(uri, view) {
      const found = byFile.get(uri);
      if (found === undefined || !view.shows(found.skill)) return undefined;
      const { id, scopes, requires } = found.skill;
      return { id, scopes, requires, read: () => toBody(found.file) };
    },
  } satisfies OpenSkills);
}
