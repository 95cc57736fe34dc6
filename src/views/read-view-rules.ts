import { SurfaceError } from "../errors.ts";
import { assertKnown, fieldOf, readFields, readList, readText, toMisfit, type Place } from "./plain-data.ts";
import { maxNameLength, readRule } from "./read-rule.ts";
import { readNamedView } from "./read-verdict.ts";
import { viewDomain, type ViewPacket, type ViewRule } from "./view-rules.ts";

/** How many rules are read, in all packets together; and how many packets. */
const maxRules = 10_000;
const maxPackets = 1024;
const maxDescription = 4096;

/** What editors find the schema of a file by; nothing is read of it. */
const schemaField = "$schema";

const packetFields = [schemaField, "id", "domain", "description", "project", "rules"];

/** What rules are called that come without a packet: as a list, or as views by name. */
const ownPacket = "views";

const root: Place = { owner: "the input", field: "" };

function toPacket(rules: readonly ViewRule[]): ViewPacket {
  return Object.freeze({ id: ownPacket, domain: viewDomain, rules: Object.freeze(rules) });
}

function readRules(value: unknown, place: Place): readonly ViewRule[] {
  const rules = readList(value, place, { most: maxRules, of: "rules" });
  return Object.freeze(rules.map((rule, index) => readRule(rule, index + 1, place.owner)));
}

function readPacket(value: unknown, number: number): ViewPacket {
  const unnamed: Place = { owner: `packet ${number}`, field: "" };
  const fields = readFields(value, unnamed);
  const id = readText(fields.get("id"), fieldOf(unnamed, "id"), maxNameLength);
  const place: Place = { owner: `packet "${id}"`, field: "" };
  assertKnown(fields, packetFields, place);
  const domain = fields.get("domain");
  if (domain !== viewDomain) throw toMisfit(domain, fieldOf(place, "domain"), `"${viewDomain}"`);
  const texts = { description: maxDescription, project: maxNameLength };
  const said = Object.entries(texts).flatMap(([name, most]): readonly (readonly [string, string])[] =>
    fields.has(name) ? [[name, readText(fields.get(name), fieldOf(place, name), most)]] : [],
  );
  const rules = readRules(fields.get("rules"), fieldOf(place, "rules"));
  return Object.freeze({ id, domain: viewDomain, ...Object.fromEntries(said), rules });
}

function readNamed(value: unknown): ViewPacket {
  const views = [...readFields(value, root)].filter(([name, view]) => name !== schemaField || typeof view !== "string");
  if (views.length === 0 || views.length > maxRules) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Reading view rules: there are ${views.length} views and must be 1 to ${maxRules}`,
    );
  }
  return toPacket(
    views.map(([name, view]) => {
      const surface = readText(name, { owner: "the name of a view", field: "" }, maxNameLength);
      const verdict = readNamedView(view, { owner: `view "${surface}"`, field: "" });
      return Object.freeze({ id: surface, when: Object.freeze({ surface }), verdict });
    }),
  );
}

/** Whether a piece of a list is a packet. What is neither is read as a rule, which says what it lacks. */
function isPacket(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && (Object.hasOwn(value, "rules") || Object.hasOwn(value, "domain"))
  );
}

/** Whether an object is one packet: the views of a record are objects, and what a packet says of itself are none. */
function isPacketAlone(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const fields = readFields(value, root);
  return Array.isArray(fields.get("rules")) || ["id", "domain"].some((name) => typeof fields.get(name) === "string");
}

function readListed(input: readonly unknown[]): readonly ViewPacket[] {
  // First of all: what follows walks it.
  readList(input, root, { most: maxRules, of: "rules or packets" });
  if (!input.some(isPacket)) return [toPacket(readRules(input, { owner: `packet "${ownPacket}"`, field: "" }))];
  const packets = readList(input, root, { most: maxPackets, of: "packets" });
  return packets.map((packet, index) => readPacket(packet, index + 1));
}

/**
 * Reads rules in every form in which they come: a list of rules, a packet, a list of packets, views by name. Gives frozen copies,
 * so that nothing that becomes of the input later changes them.
 *
 * @throws SurfaceError `INVALID_OPTION` naming the packet, the rule and the field that does not fit.
 */
export function readViewRules(input: unknown): readonly ViewPacket[] {
  let packets: readonly ViewPacket[];
  if (Array.isArray(input)) packets = readListed(input);
  else packets = [isPacketAlone(input) ? readPacket(input, 1) : readNamed(input)];
  const count = packets.reduce((sum, { rules }) => sum + rules.length, 0);
  if (count > maxRules) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Reading view rules: there are ${count} rules and may be at most ${maxRules}`,
    );
  }
  return Object.freeze(packets);
}
