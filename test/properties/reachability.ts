import type { Caller } from "../../src/surface/caller.ts";
import { allWays, type Ask, never, openings, type Verdict, type Way } from "./asks.ts";
import { differences } from "./differences.ts";
import type { TestedTransport, OpenTransport, Told } from "./tested-transport.ts";
import { doors } from "./tested-transports.ts";
import { Exposure } from "./exposure.ts";
import { checkLists } from "./lists.ts";
import { createRecordedApp } from "./recorded-app.ts";
import type { RandomSurface } from "./random-surface.ts";

/** How many are asked at once: fewer than a server keeps waiting. */
const atOnce = 64;

/** What there is to look into while a door is tried. */
interface Trial {
  readonly door: TestedTransport;
  readonly open: OpenTransport;
  /** What ran since it was last emptied. */
  readonly ran: Set<string>;
  /** What the list of resources may run at any time: it is told whenever it has changed. */
  readonly ambient: ReadonlySet<string>;
}

/** What became of it, as far as it can be told from outside: what answers as what never was is unknown. */
function verdictOf(told: Told, said: string, control: Told): Verdict {
  if (told.text === control.text.replaceAll(never, said)) return control.isDenied ? "denied" : "unknown";
  return told.isDenied ? "denied" : "answered";
}

async function askAll({ open }: Trial, { rows, watches }: Way): Promise<readonly Told[]> {
  const asks = rows.flat();
  const told: Told[] = [];
  for (let start = 0; start < asks.length; start += atOnce) {
    const asked = asks.slice(start, start + atOnce).map(({ method, params }) => {
      const { uri } = params;
      return watches && typeof uri === "string" ? open.watch(uri) : open.ask(method, params);
    });
    told.push(...(await Promise.all(asked)));
  }
  return told;
}

function expectedOf({ verdict }: Ask, { hidesWatched }: TestedTransport, { watches }: Way): Verdict {
  return verdict === "denied" && hidesWatched && watches ? "unknown" : verdict;
}

async function tryWay(trial: Trial, way: Way): Promise<readonly string[]> {
  const { door, ran, ambient } = trial;
  ran.clear();
  const told = await askAll(trial, way);
  const asks = way.rows.flat();
  const perRow = way.rows[0]?.length ?? 1;
  const what = `${door.name}, ${way.name}`;
  const wrong = asks.flatMap((ask, index) => {
    const [answer, control] = [told[index], told[index % perRow]];
    if (answer === undefined || control === undefined) return [`${what}: no answer`];
    const [is, should] = [verdictOf(answer, ask.said, control), expectedOf(ask, door, way)];
    return is === should ? [] : [`${what}: ${JSON.stringify(ask.params)} is ${is}, not ${should}: ${answer.text}`];
  });
  const isOwn = (operation: string): boolean => !operation.startsWith("touch ") && !ambient.has(operation);
  const expected = asks.flatMap(({ verdict, runs }) => (verdict === "answered" ? runs : []));
  const operations = new Set([...ran].filter(isOwn));
  return [...wrong, ...differences(what, operations, new Set(expected.filter(isOwn)))];
}

/** What runs is told, and whose code it was that ran. */
class Recording {
  readonly ran = new Set<string>();
  readonly touched = new Set<string>();

  readonly tell = (operation: string): void => {
    this.ran.add(operation);
    if (operation.startsWith("touch ")) this.touched.add(operation.slice("touch ".length));
  };
}

interface Opening {
  readonly door: TestedTransport;
  readonly surface: RandomSurface;
  readonly caller: Caller | undefined;
  readonly nth: number;
}

async function tryOpening({ door, surface, caller, nth }: Opening): Promise<readonly string[]> {
  const { ran, touched, tell } = new Recording();
  const recorded = createRecordedApp(surface, tell);
  const open = await door.open(recorded.app, caller);
  try {
    const exposure = new Exposure(surface, caller?.scopes);
    const ambient = new Set(exposure.listedKeys.flatMap((key) => [`keys ${key}`, `watchKeys ${key}`]));
    const trial = { door, open, ran, ambient };
    const wrong: string[] = [];
    const ways = allWays(surface, caller?.scopes).filter(({ opening }) => opening === nth);
    for (const way of ways) wrong.push(...(await tryWay(trial, way)));
    if (nth === 0) wrong.push(...(await checkLists({ ...trial, surface, exposure })));
    const reachable = exposure.reachableKeys;
    const beyond = [...touched].filter((key) => !reachable.has(key));
    return [...wrong, ...beyond.map((key) => `${door.name}: the code of "${key}" ran, which is not to be reached`)];
  } finally {
    await open.close();
    await recorded.close();
  }
}

/**
 * Tries every door of an app, every method, every name: what ran that was not exposed, what was exposed and did not run,
 * and what was told of either. Nothing, where the two are the same.
 */
export async function disagreements(surface: RandomSurface): Promise<readonly string[]> {
  const { granted } = surface;
  const known: Caller | undefined = granted && { id: "ada", isAnonymous: false, scopes: granted };
  const wrong: string[] = [];
  for (const door of doors) {
    const caller = door.knowsCaller ? known : undefined;
    for (let nth = 0; nth < openings; nth += 1) wrong.push(...(await tryOpening({ door, surface, caller, nth })));
  }
  return wrong;
}
