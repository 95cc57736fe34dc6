import type { AskPort } from "../../call/ask-port.ts";
import type { AskKind } from "../../catalog/asking.ts";
import type { JsonObject } from "../../schema/json.ts";
import { negotiate } from "../handshake.ts";
import { ownParam, type Era } from "../protocol.ts";
import { clientKinds } from "./client-kinds.ts";
import { PushedAsks, type PushedAsksSetting } from "./pushed-asks.ts";

/** What the client of one connection is asked, which may be of either era. Whoever made it closes it. */
export class ConnectionAsks extends PushedAsks {
  #kinds: ReadonlySet<AskKind> = clientKinds(undefined);
  #version: string | undefined;

  constructor(setting: Omit<PushedAsksSetting, "kinds">) {
    super({ ...setting, kinds: () => this.#kinds });
  }

  /** The version that the legacy handshake agreed on, once there was one. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Reads the params of a legacy handshake. */
  greet(params: JsonObject | undefined): void {
    this.#kinds = clientKinds(ownParam(params, "capabilities"));
    this.#version = negotiate(params);
  }

  /** How the client of a request is asked: in the modern era by the answer to it. */
  portOf(era: Era): AskPort | undefined {
    return era === "legacy" ? this.portFor() : undefined;
  }
}
