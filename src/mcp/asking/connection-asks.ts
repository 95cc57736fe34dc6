import type { AskPort } from "../../call/ask-port.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { toBriefHandshake } from "../brief-handshake.ts";
import { negotiate } from "../handshake.ts";
import { ownParam } from "../own-param.ts";
import type { Era } from "../protocol.ts";
import { PushedAsks, type PushedAsksSetting } from "./pushed-asks.ts";

/** What the client of one connection is asked, which may be of either era. Whoever made it closes it. */
export class ConnectionAsks extends PushedAsks {
  #handshake: JsonObject | undefined;
  #version: string | undefined;

  constructor(setting: Omit<PushedAsksSetting, "capabilities">) {
    super({ ...setting, capabilities: () => this.#capabilities });
  }

  /** What is kept of the legacy handshake, once there was one. */
  get handshake(): JsonObject | undefined {
    return this.#handshake;
  }

  /** The version that the legacy handshake agreed on, once there was one. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Keeps what a legacy handshake says. */
  greet(params: JsonObject | undefined): void {
    this.#handshake = toBriefHandshake(params);
    this.#version = negotiate(params);
  }

  /** How the client of a request is asked: in the modern era by the answer to it. */
  portOf(era: Era): AskPort | undefined {
    return era === "legacy" ? this.portFor() : undefined;
  }

  /** Hears of a notification of the legacy era. */
  notified(method: string): void {
    if (method === "notifications/roots/list_changed") this.rootsChanged();
  }

  get #capabilities(): JsonObject | undefined {
    const capabilities = ownParam(this.#handshake, "capabilities");
    return isJsonObject(capabilities) ? capabilities : undefined;
  }
}
