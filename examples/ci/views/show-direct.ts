import { z } from "zod";

import { assertPromised, toList, wordsOf, type Scene } from "./scene.ts";
import { visitByV1, type Visitor } from "./visitor.ts";

const Run = z.object({ run: z.number() });
/** Nothing has this name, in no view. */
const NEVER = "launch_rocket";

/** Somebody who names no view, where that is denied. */
export async function showNobody({ url, printer }: Scene): Promise<void> {
  const words = await visitByV1({ name: "nobody", url: new URL(url) }).then(
    () => "was let in",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  printer.step(`${printer.paint("name", "nobody")} comes by no view, and is not let in:`, [`  ${words}`]);
  assertPromised(words.includes("tool surface denied"), "who names no view is denied");
}

/** What a visitor sees, as lines. */
export async function toSight({ name, title, ...visitor }: Visitor, scene: Scene): Promise<readonly string[]> {
  const [tools, resources] = await Promise.all([visitor.tools(), visitor.resources()]);
  const { paint } = scene.printer;
  return [
    `${paint("name", name)} comes by ${title}`,
    `  sees ${tools.length} tools: ${toList(tools)}`,
    `  and the resource ${toList(resources)}`,
  ];
}

async function print(visitor: Visitor, scene: Scene): Promise<void> {
  const [first = "", ...rest] = await toSight(visitor, scene);
  scene.printer.step(first, rest);
}

/** Drives the run. */
export async function showExecutor(scene: Scene): Promise<void> {
  const { executor } = scene.cast;
  await print(executor, scene);
  const started = await executor.call("run");
  assertPromised(started.ok, "the executor starts a run");
  const settled = await executor.call("settled", { timeout_ms: 60_000 });
  assertPromised(settled.ok, "the executor waits for its end");
  const rerun = await executor.call("node_rerun", { node: "hello" });
  assertPromised(rerun.ok, "the executor reruns a node");
  const refused = await executor.call("runners_linux_007_drain");
  assertPromised(!refused.ok, "runners are not of the executor's view");
  const { run } = Run.parse(started.value);
  scene.printer.details([
    `  starts run ${run}, waits until it has ended, and reruns node hello`,
    `  is refused runners_linux_007_drain, which it does not see: ${wordsOf(refused)}`,
  ]);
}

/** Looks on, asks for what it does not see, and is told what it would be told of something that does not exist. */
export async function showReviewer(scene: Scene): Promise<void> {
  const { reviewer } = scene.cast;
  await print(reviewer, scene);
  const refusals = await Promise.all([
    reviewer.call("node_rerun", { node: "hello" }),
    reviewer.call("runners_linux_007_drain"),
    reviewer.call(NEVER),
  ]);
  const [hidden = "", ...others] = refusals.map(wordsOf);
  assertPromised(
    refusals.every(({ ok }) => !ok) && others.every((words) => words === hidden),
    "what is hidden is answered as what does not exist",
  );
  scene.printer.details([
    `  is refused node_rerun, which would change something: ${hidden}`,
    `  is told the same of runners_linux_007_drain, and of ${NEVER}, which never was`,
  ]);
}
