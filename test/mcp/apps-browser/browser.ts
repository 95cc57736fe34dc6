import { chromiumOptions } from "../../fixtures/chromium.ts";

/** Elements of a page. */
export interface Element {
  click(): Promise<void>;
  textContent(): Promise<string | null>;
  waitFor(): Promise<void>;
}

/** A page, or a frame of one. */
export interface Frame {
  locator(selector: string, options?: { readonly hasText?: string }): Element;
  frameLocator(selector: string): Frame;
}

/** A tab of the browser. */
export interface Tab extends Frame {
  goto(url: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  on(event: "pageerror", listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

/** A running browser. */
export interface Browser {
  newPage(): Promise<Tab>;
  close(): Promise<void>;
}

/** Starts the browser. Its own types need those of the DOM, which no file here may use. */
export async function launchBrowser(): Promise<Browser> {
  const name: string = "playwright-core";
  // The members that are used, as the package documents them.
  const { chromium } = (await import(name)) as { chromium: { launch(options: object): Promise<Browser> } };
  return chromium.launch(chromiumOptions);
}
