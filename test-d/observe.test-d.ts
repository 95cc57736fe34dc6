import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
import {
  defineSurface,
  implementSurface,
  mcp,
  mcpTool,
  procedure,
  redactSecrets,
  type CallEnd,
  type LinkDown,
  type Observation,
  type Observer,
  type ObserverOption,
  type Outcome,
  type Redactor,
  type RefusalStage,
  type Refused,
  type RequestEnd,
  type RequestStart,
  type SessionEnd,
  type TraceContext,
  type Transport,
  type WorkStart,
} from "surface-mcp";
import { otel, type OtelOptions } from "surface-mcp/otel";
import { z } from "zod";

declare const record: Observation;

// The type of a record is its discriminant.
if (record.type === "request-start") {
  expectType<RequestStart>(record);
  expectType<string>(record.method);
  expectType<string | number>(record.rpcId);
  expectType<TraceContext | undefined>(record.trace);
  expectType<"meta" | "headers" | undefined>(record.traceFrom);
  expectType<"tool" | "resource" | "prompt" | undefined>(record.operation?.kind);
  expectError(record.outcome);
  expectError((record.method = "tools/call"));
}
if (record.type === "request-end") {
  expectType<RequestEnd>(record);
  expectType<Outcome>(record.outcome);
  expectType<RefusalStage | undefined>(record.refusedAt);
  expectType<number>(record.ms);
  expectType<string>(record.caller.id);
  expectError(record.parent);
}
if (record.type === "call-end") {
  expectType<CallEnd>(record);
  expectType<string>(record.parent);
  // A nested call is no request.
  expectError(record.method);
}
if (record.type === "refused") {
  expectType<Refused>(record);
  expectType<Transport>(record.transport);
  expectType<RefusalStage>(record.stage);
}
if (record.type === "session-end") expectType<SessionEnd["reason"]>(record.reason);
if (record.type === "link-down") {
  expectType<LinkDown>(record);
  expectError(record.caller);
}
expectNotAssignable<Observation["type"]>("request-stop");
// Every record has a time; only some have a caller.
expectType<number>(record.at);
expectError(record.caller);

// An observer is a function of a record, or an object with `record`.
expectAssignable<ObserverOption>((one: Observation) => console.error(one.type));
expectAssignable<ObserverOption>({ record() {} });
expectNotAssignable<ObserverOption>((one: RequestEnd) => console.error(one.ms));
expectNotAssignable<ObserverOption>({});
expectNotAssignable<ObserverOption>({ record: 1 });
expectAssignable<Observer>({
  record() {},
  before: async (start) => {
    expectType<WorkStart>(start);
  },
  around: (start, run) => void [expectType<WorkStart>(start), run()],
  trace: (start) => start.trace,
  values: redactSecrets({ names: ["iban"] }),
});
expectNotAssignable<Observer>({ record() {}, trace: () => "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
expectNotAssignable<Observer>({ record() {}, values: true });
expectType<Redactor>(redactSecrets());
expectError(redactSecrets({ name: ["iban"] }));

const surface = defineSurface("s", { run: mcpTool(procedure({ input: z.string(), output: z.string() })) });
const app = mcp(surface, { observe: (one) => expectType<Observation>(one) })
  .implement({ run: (text, { trace }) => (expectType<TraceContext | undefined>(trace), text) })
  .tools({
    own: {
      handler: (_args, { client, trace }) => {
        expectType<TraceContext | undefined>(trace);
        return client.run.call("a", { trace });
      },
    },
  });
expectType<() => void>(app.observe({ record() {} }));
expectError(app.observe({ tell() {} }));
expectError(mcp(surface, { observe: 1 }));

// A trace context is the text of W3C headers.
const live = implementSurface(surface, { run: (text) => text });
expectError(app.observe(live));
expectAssignable<TraceContext>({ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
expectNotAssignable<TraceContext>({ tracestate: "a=1" });

app.observe(otel());
expectType<Observer>(otel({}));
expectAssignable<OtelOptions>({ tracer: { startSpan: () => ({}) as never } });
expectError(otel({ tracer: 1 }));
