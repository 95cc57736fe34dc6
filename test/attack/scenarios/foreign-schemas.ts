import type { Attack, Finding, Scenario } from "../scenario.ts";
import { hostileSchemas } from "../foreign-operations.ts";

/** Milliseconds that one value may keep the event loop: generous, for busy machines. */
const patienceMs = 20_000;
const maxListBytes = 16 * 1024 * 1024;

/** Sends a request and a health check behind it, and returns whether the check was answered in time. */
async function answersBeside({ target }: Attack, send: () => Promise<unknown>): Promise<boolean> {
  const sent = send();
  try {
    const health = await fetch(new URL("/healthz", target.url), { signal: AbortSignal.timeout(patienceMs) });
    await health.text();
  } catch {
    return false;
  }
  await sent;
  return true;
}

/** Reads every page of `tools/list`. */
async function readList({ target }: Attack): Promise<readonly string[]> {
  let cursor: string | undefined;
  do {
    const page = await target.ask("tools/list", cursor === undefined ? {} : { cursor });
    if (page.status !== 200) return [`tools/list answered ${page.status}`];
    if (page.text.length > maxListBytes) return [`a page of tools/list has ${page.text.length} bytes`];
    cursor = JSON.parse(page.text).result?.nextCursor;
  } while (cursor !== undefined);
  return [];
}

async function run(attack: Attack): Promise<Finding> {
  const { target } = attack;
  const breaks: string[] = [];
  for (const { name, args } of hostileSchemas) {
    const call = { name: `foreign_${name}`, arguments: args };
    const answers = await answersBeside(attack, () => target.ask("tools/call", call));
    // Nothing more can be tried on a server that is stuck.
    if (!answers) return { tried: name, breaks: [`one value for "${name}" kept the server busy for ${patienceMs} ms`] };
  }
  breaks.push(...(await readList(attack)));
  const honest = await target.ask("tools/call", { name: "foreign_honest", arguments: {} });
  if (!honest.text.includes("ran"))
    breaks.push(`an honest operation beside them answered ${honest.text.slice(0, 200)}`);
  return { tried: `${hostileSchemas.length} schemas of a hostile source`, breaks };
}

/** No schema of a mounted source may stop the server. */
export const foreignSchemas: Scenario = { name: "foreign schemas", run };
