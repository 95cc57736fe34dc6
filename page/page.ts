import type { PageState } from "../src/inspector/messages.ts";
import type { ExposureLoader } from "./data/exposure-loader.ts";
import type { OlderRows } from "./data/older-rows.ts";
import type { PageData } from "./data/page-data.ts";

/** The objects that every panel works with. */
export interface Page {
  readonly data: PageData;
  readonly exposure: ExposureLoader;
  readonly older: OlderRows;
}

/** The props of a panel. */
export interface PanelProps {
  readonly page: Page;
  readonly state: PageState;
}
