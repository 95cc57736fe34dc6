import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toPieces } from "../../page/text/visible.ts";
import { hasBrowser, whyNoBrowser } from "../fixtures/chromium.ts";
import { collectProblems, launchBrowser } from "./browser.ts";
import { hostileExposure, hostileSnapshot, hostileTexts } from "./hostile.ts";
import { MockServer } from "./mock-server.ts";
import { sampleCall, sampleEntry, sampleExposure, sampleRow, sampleSnapshot, sampleTime } from "./samples.ts";

const panels = ["now", "exposure", "history", "values", "approvals"] as const;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeWindow {
  readonly axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
}

describe.runIf(hasBrowser)(`the quality of the live page${whyNoBrowser}`, { timeout: 240_000 }, () => {
  let browser: Browser;
  const server = new MockServer();
  let url: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    url = await server.listen();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  const enter = async (options: Parameters<Browser["newPage"]>[0]): Promise<Page> => {
    const page = await browser.newPage(options);
    await page.goto(`${url}#token=${server.token}`);
    await page.getByRole("heading", { name: "Running calls" }).waitFor();
    return page;
  };
  const show = async (page: Page, panel: string): Promise<void> => {
    await page.evaluate((name) => {
      location.hash = name;
    }, panel);
    await page.locator(`#tab-${panel}[aria-selected="true"]`).waitFor();
    if (panel !== "now" && panel !== "approvals") await page.locator(".open-row").first().waitFor();
  };
  const findViolations = async (page: Page): Promise<unknown[]> => {
    const { violations } = await page.evaluate(() => (globalThis as unknown as AxeWindow).axe.run());
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical" || impact === "moderate")
      .map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 160))]);
  };

  it.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 320],
  ] as const)("axe finds nothing when the page is %s and %i px wide", async (colorScheme, width) => {
    // The policy of the page would refuse the script of axe.
    const page = await enter({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    await page.evaluate(axe);
    for (const panel of panels) {
      await show(page, panel);
      expect([panel, await findViolations(page)]).toEqual([panel, []]);
      if (panel === "now" || panel === "approvals") continue;
      await page.locator(".open-row").first().click();
      await page.getByRole("dialog").waitFor();
      await page.waitForTimeout(300);
      expect([panel, await findViolations(page)]).toEqual([panel, []]);
      await page.keyboard.press("Escape");
    }
    await page.close();
  });

  it.each([320, 768, 1280, 2560])(
    "has no horizontal scroll, and shifts nothing, when it is %i px wide",
    async (width) => {
      const page = await enter({ viewport: { width, height: 900 } });
      for (const panel of panels) {
        await show(page, panel);
        await page.evaluate(() => {
          const observer = new PerformanceObserver((list) => {
            const shifts = list.getEntries() as unknown as { value: number }[];
            for (const { value } of shifts) if (value > 0.001) Object.assign(globalThis, { shift: value });
          });
          observer.observe({ type: "layout-shift", buffered: false });
        });
        server.send("update", { at: sampleTime + 1000, seconds: [], refusals: {}, history: [sampleRow(1001)] });
        await page.waitForTimeout(150);
        const [over, shift] = await page.evaluate(() => [
          document.documentElement.scrollWidth - innerWidth,
          (globalThis as { shift?: number }).shift ?? 0,
        ]);
        expect([panel, over, shift]).toEqual([panel, 0, 0]);
      }
      await page.close();
    },
  );

  it.each(hostileTexts.map((text) => [text.slice(0, 40), text] as const))(
    "shows %j as text only",
    async (_name, text) => {
      const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
      const problems = collectProblems(page);
      const requests: string[] = [];
      const texts: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      server.snapshot = hostileSnapshot(text);
      server.exposure = hostileExposure(text);
      server.answerEntry = () => ({ [text]: text });
      await page.goto(`${url}#token=${server.token}`);
      for (const panel of panels) {
        await show(page, panel);
        if (panel !== "now" && panel !== "approvals") {
          await page.locator(".open-row").first().click();
          await page.getByRole("dialog").waitFor();
          texts.push((await page.getByRole("dialog").textContent()) ?? "");
          await page.keyboard.press("Escape");
        }
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([panel, over]).toEqual([panel, 0]);
        expect(await page.locator("main :is(img, iframe, script, a)").count()).toBe(0);
      }
      const shown = toPieces(text).join("");
      expect(texts.map((one) => one.includes(shown))).toEqual([true, true, true]);
      expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
      expect(requests.filter((one) => !one.startsWith(url))).toEqual([]);
      expect(problems).toEqual([]);
      await page.close();
      server.snapshot = sampleSnapshot();
      server.exposure = sampleExposure();
    },
  );

  it("draws few rows, and answers keys, when it has 10^5 rows of history and 10^4 tools", async () => {
    const history = Array.from({ length: 100_000 }, (_, index) => sampleRow(index + 1));
    server.snapshot = sampleSnapshot({ history });
    server.exposure = sampleExposure({
      entries: Array.from({ length: 10_000 }, (_, index) => sampleEntry(index, { name: `tool_${index}` })),
    });
    const page = await enter({ viewport: { width: 1280, height: 900 } });
    for (const panel of ["history", "exposure"]) {
      await show(page, panel);
      await page.locator(".open-row").first().focus();
      await page.keyboard.press("End");
      await expect
        .poll(() => page.evaluate(() => Number(document.activeElement?.getAttribute("data-index"))))
        .toBeGreaterThan(9_000);
      expect(await page.locator(".open-row").count()).toBeLessThan(80);
    }
    await page.close();
    server.snapshot = sampleSnapshot();
    server.exposure = sampleExposure();
  });

  it("stays responsive while 200 running calls change ten times a second", async () => {
    const page = await enter({ viewport: { width: 1280, height: 900 } });
    const rows = (turn: number) =>
      Array.from({ length: 200 }, (_, index) => sampleCall(index, { progress: { done: turn, total: 50 } }));
    const gaps = page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          let longest = 0;
          let last = performance.now();
          const end = last + 4000;
          const tick = (): void => {
            const now = performance.now();
            longest = Math.max(longest, now - last);
            last = now;
            if (now > end) resolve(longest);
            else setTimeout(tick, 5);
          };
          tick();
        }),
    );
    for (let turn = 1; turn <= 40; turn += 1) {
      server.send("update", { at: sampleTime + turn * 100, calls: { rows: rows(turn), more: 0 } });
      await page.waitForTimeout(100);
    }
    // A bound on a hang: a busy machine takes much longer than the 20 ms of a free one.
    expect(await gaps).toBeLessThan(1000);
    expect(await page.getByText("40 of 50").count()).toBe(200);
    await page.close();
  });
});
