import type { RpcMessage, SdkConnector, SdkPort } from "./sdk-port.ts";

/**
 * Makes a connector that loads the SDK with the first message that needs it. What is delivered until then waits, in
 * order. A connector that cannot be loaded is a broken installation: it is reported, and what waits stays unanswered.
 */
export function toLazyConnector(load: () => Promise<SdkConnector>): SdkConnector {
  return (runtime, send) => {
    let port: SdkPort | undefined;
    let waiting: RpcMessage[] = [];
    let closed = false;
    const loading = load().then(
      (connect) => {
        if (closed) return;
        port = connect(runtime, send);
        for (const message of waiting) port.deliver(message);
        waiting = [];
      },
      (cause: unknown) => runtime.report({ correlationId: "sdk", where: "loading the SDK", cause }),
    );
    return {
      deliver(message) {
        if (port === undefined) waiting.push(message);
        else port.deliver(message);
      },
      async close() {
        closed = true;
        await loading;
        await port?.close();
      },
    };
  };
}
