import { rpcCodes, toRpcError } from "../mcp/protocol.ts";
import { isNear } from "../options/known-names.ts";
import { setNewest } from "../spine/collections.ts";
import { withCallerView, defaultView, type Caller, type CallerView } from "../surface/caller.ts";
import type { HttpRequest } from "./message.ts";
import type { HttpRefusal } from "./respond.ts";

/** Query parameters that name a view. */
const parameters = ["surface", "project"] as const;

type ViewParameter = (typeof parameters)[number];

const maxBytes = 256;
/** The most characters that can encode so few bytes. */
const maxEscaped = 3 * maxBytes;
/** The longest spelling of a parameter's name. */
const maxEscapedName = 3 * "surface".length;
const maxAgentChars = 512;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const visibleAscii = /^[!-~]*$/;
const control = /\p{Cc}/u;

/** Refuses a URL. The text quotes no value of the request. */
function refuse(what: string): HttpRefusal {
  return { status: 400, error: toRpcError(rpcCodes.invalidParams, `Invalid params: ${what}`) };
}

function decode(escaped: string): string | undefined {
  try {
    // Strict, unlike `URLSearchParams`, which keeps an invalid escape as it is: two spellings of one view would be two views.
    return decodeURIComponent(escaped.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function decodeValue(escaped: string): string | undefined {
  if (escaped.length > maxEscaped || !visibleAscii.test(escaped)) return undefined;
  const value = decode(escaped);
  if (value === undefined || control.test(value)) return undefined;
  const bytes = encoder.encode(value);
  // Decoded again: a session keeps the value, and a slice of a string keeps the whole string.
  return bytes.length > maxBytes ? undefined : decoder.decode(bytes);
}

function nameOf(escaped: string): string {
  const isPlain = escaped.length > maxEscapedName || !escaped.includes("%");
  return isPlain ? escaped : (decode(escaped) ?? escaped);
}

/** Values of a query before they are decoded. */
type EscapedValues = { [TName in ViewParameter]?: string };

function lettersOf(name: string): string {
  return Array.from(name).toSorted().join("");
}

/** Returns whether a name has one character too many, too few or wrong, or two swapped ones. "product" is no "project". */
function isMisspelt(name: string, parameter: ViewParameter): boolean {
  return isNear(name, parameter, 1) || (isNear(name, parameter) && lettersOf(name) === lettersOf(parameter));
}

/** Returns the parameter of a name in any case, or a refusal for a misspelt name. */
function parameterOf(escaped: string): ViewParameter | HttpRefusal | undefined {
  const name = nameOf(escaped).toLowerCase();
  const exact = parameters.find((one) => one === name);
  const near = exact ?? parameters.find((one) => isMisspelt(name, one));
  // A misspelt name would select the default view, which may show more than the intended one.
  return exact === near ? exact : refuse(`the URL has a parameter with a name like "${near}"; write "${near}"`);
}

/** Finds the value of each parameter; an empty value counts as none. */
function find(query: string): EscapedValues | HttpRefusal {
  const values: EscapedValues = {};
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || equals === pair.length - 1) continue;
    const parameter = parameterOf(pair.slice(0, equals));
    if (typeof parameter === "object") return parameter;
    if (parameter === undefined) continue;
    const value = pair.slice(equals + 1);
    // One program may read the first of two values and another the last: a client could get past a proxy that sets the view.
    if ((values[parameter] ?? value) !== value) return refuse(`the URL has two values of "${parameter}"; send one`);
    values[parameter] = value;
  }
  return values;
}

function read(values: EscapedValues, parameter: ViewParameter): string | HttpRefusal | undefined {
  const escaped = values[parameter];
  const rule = `must be percent-encoded UTF-8 of at most ${maxBytes} bytes, without control characters`;
  return escaped === undefined ? undefined : (decodeValue(escaped) ?? refuse(`"${parameter}" of the URL ${rule}`));
}

function clipAgent(agent: string): string {
  return agent.length <= maxAgentChars ? agent : decoder.decode(encoder.encode(agent.slice(0, maxAgentChars)));
}

/** Reads the view of a request: `surface` and `project` of its URL, and its `User-Agent`. Returns `undefined` without any. */
export function readView(request: HttpRequest): CallerView | HttpRefusal | undefined {
  const { target } = request;
  const agent = request.header("user-agent");
  const userAgent = agent ? { userAgent: clipAgent(agent) } : {};
  const start = target.indexOf("?");
  if (start < 0) return agent ? Object.freeze({ surface: defaultView, ...userAgent }) : undefined;
  const query = target.slice(start + 1);
  const values = find(query);
  if ("status" in values) return values;
  const surface = read(values, "surface");
  if (typeof surface === "object") return surface;
  const project = read(values, "project");
  if (typeof project === "object") return project;
  const more = project === undefined ? userAgent : { project, ...userAgent };
  return Object.freeze({ surface: surface ?? defaultView, ...more });
}

/** Most views that are kept, and longest key of one. */
const maxKept = 256;
const maxKeyChars = 512;

/**
 * Creates a {@link readView} that returns the same object for the same URL and `User-Agent`, so that caches can have views as keys.
 */
export function createViewReader(): typeof readView {
  const kept = new Map<string, ReturnType<typeof readView>>();
  return (request) => {
    const { target } = request;
    const agent = request.header("user-agent");
    if (agent === undefined && !target.includes("?")) return undefined;
    // A target has no spaces.
    const key = `${target} ${agent ?? ""}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const view = readView(request);
    if (view === undefined || key.length > maxKeyChars) return view;
    setNewest(kept, [key, view], maxKept);
    return view;
  };
}

/** The last anonymous caller of each view, and its copy with the view. Clients send the same view with each request. */
const copies = new WeakMap<CallerView, { readonly caller: Caller; readonly copy: Caller }>();

function copyAnonymous(caller: Caller, view: CallerView): Caller {
  const last = copies.get(view);
  if (last?.caller === caller) return last.copy;
  const copy = withCallerView(caller, view);
  copies.set(view, { caller, copy });
  return copy;
}

/** Returns the caller with this view, or without one. */
export function withView(caller: Caller, view: CallerView | undefined): Caller {
  if (caller.view === view) return caller;
  if (view !== undefined) return caller.isAnonymous ? copyAnonymous(caller, view) : withCallerView(caller, view);
  const { view: _before, ...rest } = caller;
  return Object.freeze(rest);
}
