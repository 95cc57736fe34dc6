import type { CancellationToken, Disposable, Event } from "vscode-jsonrpc/node";

const nothing: Disposable = Object.freeze({ dispose() {} });

/** Cancels one request: what the JSON-RPC library listens to, and nothing that it does not need. */
export class CancelToken implements CancellationToken {
  #tell: (() => void) | undefined;
  #isFired = false;

  get isCancellationRequested(): boolean {
    return this.#isFired;
  }

  /** Called once, by the library, when the request is sent. */
  readonly onCancellationRequested: Event<unknown> = (listener) => {
    const tell = (): void => void listener(undefined);
    this.#tell = tell;
    return nothing;
  };

  /** Cancels it. Callable twice. */
  fire(): void {
    if (this.#isFired) return;
    this.#isFired = true;
    const tell = this.#tell;
    this.#tell = undefined;
    tell?.();
  }
}
