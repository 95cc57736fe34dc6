/** Keeps agents of both users at work, so that there is something to see on the live page. */
import { setTimeout as sleep } from "node:timers/promises";
import { DemoAgent } from "./demo-agent.ts";

/** Milliseconds between two steps of an agent. */
const stepMs = 1500;

/** Milliseconds that the user of the demo takes for an answer. The page shows the question meanwhile. */
const thinkingMs = 4000;

interface Traffic {
  readonly url: string;
  readonly tokens: { readonly ada: string; readonly bob: string };
  readonly signal: AbortSignal;
}

/** Reports an issue, looks at it and closes it, which the user has to confirm; every third time the user declines. */
async function maintain({ url, tokens, signal }: Traffic): Promise<void> {
  let round = 0;
  const onQuestion = async () => {
    await sleep(thinkingMs, undefined, { signal });
    return round % 3 === 2 ? "decline" : "accept";
  };
  const agent = await DemoAgent.connect({ url: `${url}/mcp`, token: tokens.ada, onQuestion });
  await agent.watch("surface://tracker/open");
  for (; !signal.aborted; round += 1) {
    const { id = 0 } = await agent.call("issue_create", { title: `Report ${round + 1} of the demo` });
    await sleep(stepMs, undefined, { signal });
    await agent.call("issue_show", { id });
    await sleep(stepMs, undefined, { signal });
    await agent.refusal("issue_close", { id, comment: "Seen in the demo" });
    await sleep(stepMs, undefined, { signal });
  }
}

/** Searches, shows an issue that the user may not see, and tries a tool that is not there for reviewers. */
async function review({ url, tokens, signal }: Traffic): Promise<void> {
  const agent = await DemoAgent.connect({ url: `${url}/mcp`, token: tokens.bob, onQuestion: () => "decline" });
  while (!signal.aborted) {
    await agent.call("issue_search", { text: "login" });
    await sleep(stepMs, undefined, { signal });
    // Confidential.
    await agent.refusal("issue_show", { id: 3 });
    await sleep(stepMs, undefined, { signal });
    await agent.refusal("issue_close", { id: 1, comment: "Not mine" });
    await sleep(stepMs, undefined, { signal });
  }
}

/**
 * Reports an issue and closes it, in a program that cannot ask its user. The confirmation waits on the live page, until somebody decides
 * or its time is over.
 */
async function script({ url, tokens, signal }: Traffic): Promise<void> {
  const agent = await DemoAgent.connect({ url: `${url}/mcp`, token: tokens.ada, name: "nightly-script" });
  while (!signal.aborted) {
    const { id = 0 } = await agent.call("issue_create", { title: "Found by the nightly script" });
    await agent.refusal("issue_close", { id, comment: "Works again" });
    await sleep(stepMs, undefined, { signal });
  }
}

/** Runs all agents until the signal aborts. Rejects if one fails before. */
export async function runTraffic(traffic: Traffic): Promise<void> {
  try {
    await Promise.all([maintain(traffic), review(traffic), script(traffic)]);
  } catch (error) {
    if (!traffic.signal.aborted) throw error;
  }
}
