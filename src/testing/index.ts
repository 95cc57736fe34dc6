export { assertExposure } from "./assert-exposure.ts";
export { createTestClient } from "./test-client.ts";
export { RpcFailure } from "./rpc-failure.ts";
export type {
  Completable,
  Proposals,
  TestCallOptions,
  TestClient,
  TestClientOptions,
  TestTools,
} from "./test-client-types.ts";
export type { TestForm, TestReply, TestUserOptions } from "./test-user.ts";
export type { TemplateVariables } from "./expand-template.ts";
export type { ToolAnswer } from "./tool-answer.ts";
