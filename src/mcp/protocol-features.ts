import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import { writeJson, type RpcAnswer } from "./protocol.ts";

/** The protocol version that brought each type of content block, and each member of a result, that older ones lack. */
const features = [
  ["audio", "2025-03-26"],
  ["resource_link", "2025-06-18"],
  ["structuredContent", "2025-06-18"],
  ["outputSchema", "2025-06-18"],
  ["title", "2025-06-18"],
  ["icons", "2025-11-25"],
].map(([name = "", first = ""]) => ({ name, first, quoted: `"${name}"` }));

type Change = (part: JsonObject) => JsonObject;

/** Changes the object, or each object of the list, that is a member of another one. */
function changed(whole: JsonObject, key: string, change: Change): JsonObject {
  const member: JsonValue | undefined = whole[key];
  const changeEach = (item: JsonValue): JsonValue => (isJsonObject(item) ? change(item) : item);
  if (Array.isArray(member)) return { ...whole, [key]: member.map(changeEach) };
  return isJsonObject(member) ? { ...whole, [key]: change(member) } : whole;
}

/** Says in words what a block of an unknown type holds. Blocks are what `content()` made, so their members are texts. */
function toText({ type, title, name, uri, description, mimeType, data, annotations }: JsonObject): JsonObject {
  const label = [title ?? name, description].filter((part) => typeof part === "string").join(": ");
  const bytes = typeof data === "string" ? Buffer.byteLength(data, "base64") : 0;
  const text = type === "audio" ? `[${asText(mimeType)}, ${bytes} bytes]` : `${label} (${asText(uri)})`;
  return { type: "text", text, ...(annotations === undefined ? {} : { annotations }) };
}

function asText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

const lists = ["tools", "resources", "resourceTemplates", "prompts"];

function withoutFeatures(result: JsonObject, lacking: ReadonlySet<string>): JsonObject {
  const strip: Change = (part) => Object.fromEntries(Object.entries(part).filter(([key]) => !lacking.has(key)));
  const toBlock: Change = (block) => (lacking.has(asText(block["type"])) ? toText(block) : strip(block));
  let known = changed(strip(result), "serverInfo", strip);
  for (const list of lists) known = changed(known, list, (entry) => changed(strip(entry), "arguments", strip));
  known = changed(known, "content", toBlock);
  return changed(known, "messages", (message) => changed(message, "content", toBlock));
}

/** Removes from a result what a protocol version does not know: members are left out, and content blocks become text. */
export function downgrade(answer: RpcAnswer, version: string): RpcAnswer {
  if (answer.kind === "error") return answer;
  if (!features.some(({ first, quoted }) => version < first && answer.body.includes(quoted))) return answer;
  const lacking = features.filter(({ first }) => version < first).map(({ name }) => name);
  // A handler wrote it as the members of a JSON object.
  const result = JSON.parse(`{${answer.body}}`) as JsonObject;
  return { ...answer, body: writeJson(withoutFeatures(result, new Set(lacking))).slice(1, -1) };
}
