import { once } from "node:events";
import { cellSource, type ViewRules } from "surface-mcp";
import { http } from "surface-mcp/http";

import type { Printer } from "../agent/printer.ts";
import { startCoordinator, type CoordinatorSetting } from "../stage/coordinator-process.ts";
import { createViewedFace } from "./create-viewed-face.ts";
import type { Cast, Scene } from "./scene.ts";
import { showExecutor, showNobody, showReviewer } from "./show-direct.ts";
import { showHub } from "./show-hub.ts";
import { showNewRules } from "./show-new-rules.ts";
import { toViewRules } from "./view-rules.ts";
import { visitByV1, visitByV2, visitByV2Session, type Visit, type Visitor } from "./visitor.ts";

/** What is served, and until when. */
export interface ViewsSetting {
  readonly coordinator: CoordinatorSetting;
  /** 0: any that is free. */
  readonly port: number;
  readonly printer: Printer;
  readonly signal: AbortSignal;
}

/** An address with a view. */
function withView(url: string, surface: string): URL {
  const viewed = new URL(url);
  viewed.searchParams.set("surface", surface);
  return viewed;
}

async function invite(url: string): Promise<Cast> {
  const visit = (name: string, surface: string): Visit => ({ name, url: withView(url, surface) });
  const [reviewer, executor, hub] = await Promise.all([
    visitByV1(visit("reviewer", "readonly")),
    visitByV2Session(visit("executor", "executor")),
    visitByV2(visit("hub agent", "hub")),
  ]);
  return { reviewer, executor, hub };
}

async function playScenes(scene: Scene): Promise<void> {
  await showNobody(scene);
  await showExecutor(scene);
  await showReviewer(scene);
  await showHub(scene);
  await showNewRules(scene);
}

async function playFor(scene: Scene, signal: AbortSignal): Promise<void> {
  const told = once(signal, "abort").then(() => Promise.reject(new Error("told to end")));
  signal.throwIfAborted();
  try {
    await Promise.race([playScenes(scene), told]);
  } finally {
    await Promise.allSettled(Object.values(scene.cast).map((visitor: Visitor) => visitor.close()));
  }
}

async function serveFor({ coordinator, port, printer, signal }: ViewsSetting): Promise<void> {
  const rules = cellSource<ViewRules>(toViewRules({ reviewerSeesNodes: false }));
  const app = createViewedFace({ ...coordinator, tied: true }, rules);
  const serving = await app.serve(http({ port, exit: false }));
  const { url } = serving;
  try {
    printer.step(`one face serves three views at ${url}`);
    const cast = await invite(url);
    await playFor({ cast, url, calls: app.calls, printer, replaceRules: (next) => rules.set(next) }, signal);
  } finally {
    await serving.close();
  }
}

/**
 * Serves one app over HTTP to three agents, each of whom came by another view, and shows what each sees and is refused.
 * Leaves no process behind.
 *
 * @throws Error where something is not what was promised, or the signal came.
 */
export async function showViews(setting: ViewsSetting): Promise<void> {
  const backend = await startCoordinator(setting.coordinator);
  try {
    await serveFor(setting);
  } finally {
    await backend.end();
  }
}
