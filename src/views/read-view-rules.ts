import { SurfaceError } from "../errors.ts";
import { isObject } from "../options/is-object.ts";
import { placeOf, readFields, readPlain, type Place, type PlainSchema } from "./read-plain.ts";
import { deniedView, maxPackets, maxRules, name, packet, rules, shownView } from "./view-rules-schema.ts";
import { viewDomain, type ViewPacket, type ViewRule, type ViewVerdict } from "./view-rules.ts";

/** The name of the packet of rules that come without one: as a list, or as views by name. */
const ownPacket = "views";

const root: Place = { owner: "the input", field: "" };

function listOf(title: string, maxItems: number): PlainSchema {
  return { type: "array", title, items: {}, minItems: 1, maxItems };
}

function refuse(problem: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Reading view rules: ${problem}`);
}

function toPacket(read: readonly ViewRule[]): ViewPacket {
  return Object.freeze({ id: ownPacket, domain: viewDomain, rules: Object.freeze(read) });
}

function readPacket(value: unknown, number: number): ViewPacket {
  const place = placeOf(value, `packet ${number}`, (id) => `packet "${id}"`);
  // The schema is that of the type.
  return readPlain(packet, value, place) as ViewPacket;
}

function readNamedView(value: unknown, place: Place): ViewVerdict {
  const isDenied = readFields(value, place).has("deny");
  // The schemas are those of the two verdicts, but for their kind.
  const { deny: reason, ...shown } = readPlain(isDenied ? deniedView : shownView, value, place) as { deny: string };
  return Object.freeze(isDenied ? { kind: "deny", reason } : { kind: "tool_surface", ...shown });
}

function readNamed(value: unknown): ViewPacket {
  const views = [...readFields(value, root)].filter(([key, view]) => key !== "$schema" || typeof view !== "string");
  if (views.length === 0 || views.length > maxRules) {
    throw refuse(`there are ${views.length} views and must be 1 to ${maxRules}`);
  }
  const read = views.map(([surface, view]) => {
    readPlain(name, surface, { owner: "the name of a view", field: "" });
    const verdict = readNamedView(view, { owner: `view "${surface}"`, field: "" });
    return Object.freeze({ id: surface, when: Object.freeze({ surface }), verdict });
  });
  return toPacket(read);
}

/** Returns true for a packet. An item that is neither is read as a rule, which says what it lacks. */
function isPacket(value: unknown): boolean {
  return isObject(value) && (Object.hasOwn(value, "rules") || Object.hasOwn(value, "domain"));
}

/** Returns true for a packet and false for views by name: views are objects, and fields of a packet are none. */
function isPacketAlone(value: unknown): boolean {
  if (!isObject(value)) return false;
  const fields = readFields(value, root);
  return Array.isArray(fields.get("rules")) || ["id", "domain"].some((key) => typeof fields.get(key) === "string");
}

function readListed(input: readonly unknown[]): readonly ViewPacket[] {
  // First of all, since the rest walks it.
  readPlain(listOf("rules or packets", maxRules), input, root);
  if (!input.some(isPacket)) {
    const read = readPlain(rules, input, { owner: `packet "${ownPacket}"`, field: "" });
    // The schema is that of the type.
    return [toPacket(read as readonly ViewRule[])];
  }
  readPlain(listOf("packets", maxPackets), input, root);
  return Array.from(input).map((one, index) => readPacket(one, index + 1));
}

function readAll(input: unknown): readonly ViewPacket[] {
  if (Array.isArray(input)) return readListed(input);
  return [isPacketAlone(input) ? readPacket(input, 1) : readNamed(input)];
}

/**
 * Reads rules in every form: a list of rules, a packet, a list of packets, views by name. Returns frozen copies, which no change
 * of the input reaches.
 *
 * @throws SurfaceError `INVALID_OPTION` naming the packet, the rule and the field that does not fit.
 */
export function readViewRules(input: unknown): readonly ViewPacket[] {
  const packets = readAll(input);
  const count = packets.reduce((sum, one) => sum + one.rules.length, 0);
  if (count > maxRules) throw refuse(`there are ${count} rules and may be at most ${maxRules}`);
  return Object.freeze(packets);
}
