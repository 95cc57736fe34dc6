import type { CancellationToken } from "vscode-jsonrpc/node";

/**
 * One use that runs for a peer. Its signal is made only if somebody asks for it; it fires when the peer cancels, or has
 * gone.
 */
export class ServedUse {
  readonly #cancel: CancellationToken;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(cancel: CancellationToken) {
    this.#cancel = cancel;
  }

  get signal(): AbortSignal {
    return (this.#controller ??= this.#create()).signal;
  }

  /** Fires the signal. Callable twice. */
  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }

  #create(): AbortController {
    const controller = new AbortController();
    if (this.#isAborted || this.#cancel.isCancellationRequested) controller.abort();
    else this.#cancel.onCancellationRequested(() => this.abort());
    return controller;
  }
}
