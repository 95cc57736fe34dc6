export { Refusal, SurfaceError, surfaceErrorCodes } from "./errors.ts";
export type { ErrorDetails, Issue, SurfaceErrorCode } from "./errors.ts";

export { mcpResource } from "./tags/mcp-resource.ts";
export { mcpTool } from "./tags/mcp-tool.ts";
export { readOnly } from "./tags/read-only.ts";
export type { Effect, Exposure } from "./tags/tag-of.ts";
export type { Icon, DisplayMetadata } from "./tags/display-metadata.ts";
export type { ResourceRequirement, ScopeOptions } from "./tags/scopes.ts";
export type { ConfirmContext, ConfirmFunction, ConfirmLines, ConfirmText } from "./tags/tool-options.ts";
export type {
  CollectionResourceOptions,
  SummariseItem,
  Confirm,
  ConfirmOptions,
  ToolConfirmOptions,
  OnDisconnect,
  ResourceOptions,
  ToolOptions,
} from "./tags/tool-options.ts";
export { skillsFolder } from "./mcp/extensions/skills-folder.ts";
export type { SkillSource } from "./mcp/extensions/skill.ts";
export type { PageOrigins, PagePermissions, PageHtml, ToolAudience, ToolUiOptions } from "./tags/tool-ui.ts";
export type { TypeProblem } from "./tags/type-problem.ts";

export type { JsonObject, JsonSchema, JsonValue } from "./schema/json.ts";
/** The interface that validators of the Standard Schema share, as its specification declares it. */
export type { StandardSchemaV1 } from "@standard-schema/spec";
export { withJsonSchema } from "./schema/standard.ts";
export type { InferInput, InferOutput, Schema, SchemaWithJson } from "./schema/standard.ts";

export { cell, collection, event, procedure, stream } from "./surface/define-members.ts";
export { composeSurfaces } from "./surface/compose-surfaces.ts";
export { defineSurface } from "./surface/define-surface.ts";
export { fromSignal, polled, cellSource } from "./surface/source.ts";
export { implementSurface, implementSurfaces } from "./surface/implement-surface.ts";
export { derive } from "./surface/derive/derive.ts";
export { implementProjection, projectSurface, surfaceClientRef } from "./surface/project-surface.ts";
export type {
  CallOptions,
  CellClient,
  CollectionClient,
  EventClient,
  EventPage,
  EventWait,
  MemberClient,
  ProcedureClient,
  StreamClient,
  SurfaceClient,
  ListOptions,
  PageOptions,
  UseOptions,
  WaitOptions,
} from "./surface/client.ts";
export type { SurfaceChannel } from "./surface/channel.ts";
export type { Composed } from "./surface/compose-surfaces.ts";
export type {
  CollectionDefinition,
  CollectionKey,
  CellDefinition,
  EventDefinition,
  ProcedureDefinition,
  StreamDefinition,
} from "./surface/define-members.ts";
export type { ClientRef, Projection } from "./surface/project-surface.ts";
export type { CellUpstream, DeriveCellOptions } from "./surface/derive/derive-cell.ts";
export type { DeriveCollectionOptions } from "./surface/derive/derive-collection.ts";
export type { DeriveChangesOptions, DeriveEventOptions } from "./surface/derive/derive-event.ts";
export type { DeriveProcedureOptions } from "./surface/derive/derive-procedure.ts";
export type { DeriveStreamOptions, LostStream } from "./surface/derive/derive-stream.ts";
export { callerKey } from "./surface/caller.ts";
export type { Caller, CallerView } from "./surface/caller.ts";
export type { LiteralKeys, Surface } from "./surface/define-surface.ts";
export type { Fault, FaultReporter } from "./surface/fault.ts";
export type {
  SignalLike,
  ObservableLike,
  ValueObserver,
  PolledOptions,
  PolledSource,
  AsyncSource,
  CollectionChange,
  KeyedSource,
  Later,
  MapSource,
  CollectionPage,
  PagedSource,
  PageUse,
  PollOptions,
  Source,
  SourceUse,
  WritableSource,
} from "./surface/source.ts";
export type { CellImplementation, Implementation, MemberImplementation } from "./surface/implementation.ts";
export type {
  ImplementOptions,
  LiveSurface,
  AnyLiveSurface,
  LiveSurfaces,
  Served,
} from "./surface/implement-surface.ts";
export type {
  Cell,
  Collection,
  Event,
  Kind,
  MaybeSchema,
  Member,
  MemberMeta,
  Procedure,
  Settled,
  Spec,
  Stream,
  CellName,
  CollectionName,
  EventName,
  ProcedureName,
  StreamName,
} from "./surface/member.ts";
export type { HandlerContext, ProcedureContext } from "./surface/owner/handler-context.ts";
export type { PushedCollection, PushedSource, Reading, Staleness } from "./surface/reading.ts";

export { childProcess } from "./links/child-process.ts";
export { inProcess } from "./links/in-process.ts";
export { listenUnixSocket } from "./links/unix-socket.ts";
export { listenWebSocket } from "./links/web-socket.ts";
export { projected } from "./links/projected.ts";
export { serveOverStdio } from "./links/child-process.ts";
export { siblingLinks } from "./links/sibling-links.ts";
export { surfaceClients } from "./links/sibling-links.ts";
export { unixSocket } from "./links/unix-socket.ts";
export { webSocket } from "./links/web-socket.ts";
export type { ChildProcessOptions } from "./links/child-process.ts";
export type { CloseReason, Connection, KeepOptions, KeptLink, Link } from "./links/link.ts";
export type { ListenUnixSocketOptions } from "./links/unix-socket.ts";
export type { ListenWebSocketOptions } from "./links/web-socket.ts";
export type { LinkLimits, LinkUse, PeerLimit } from "./links/link-options.ts";
export type { ListenerStats, Listening, SocketListening, WebListening } from "./links/listening.ts";
export type { ServeOverStdioOptions } from "./links/child-process.ts";
export type { SiblingLinksOptions } from "./links/sibling-links.ts";
export type { SurfaceClients } from "./links/sibling-links.ts";
export type { UnixSocketOptions } from "./links/unix-socket.ts";
export type { WebSocketOptions } from "./links/web-socket.ts";

export { audioBlock, content, imageBlock, linkBlock, resourceBlock, textBlock } from "./catalog/content/content.ts";
export { memoryContext } from "./catalog/context/memory-context.ts";
export { operationRegistry } from "./catalog/mounts/operation-registry.ts";
export { staleMetaKey } from "./catalog/kinds/resource-entries.ts";
export { body } from "./catalog/content/resource-body.ts";
export { richContent } from "./catalog/content/rich-content.ts";
export type {
  AskContent,
  Asks,
  AskSchema,
  AskTimeoutOptions,
  AskTimeouts,
  Elicited,
  ElicitRequest,
  Root,
  Sampled,
  SampleMessage,
  SampleRequest,
} from "./catalog/asking/asking.ts";
export type { BespokeCompleter, CompleterContext } from "./catalog/custom/completers.ts";
export type { BespokePrompt, PromptAnswer, PromptMessage } from "./catalog/custom/bespoke-prompt.ts";
export type { BespokeResource } from "./catalog/custom/bespoke-resource.ts";
export type { BespokeTool } from "./catalog/custom/bespoke-tool.ts";
export type {
  BlockAnnotations,
  BlockBytes,
  BlockOptions,
  Content,
  ContentBlock,
  EmbeddedDefinition,
  LinkDefinition,
  MediaDefinition,
} from "./catalog/content/content.ts";
export type { LogLevel, OnAbort, ProgressReport } from "./catalog/entry.ts";
export type { Expose, ExposeValue } from "./catalog/expose.ts";
export type { DeadJob, Job, Jobs, KeyValue, MemoryContext, PubSub } from "./catalog/context/memory-context.ts";
export type {
  MountContext,
  MountedOperation,
  MountedResource,
  MountedSchema,
  MountNames,
  MountSource,
} from "./catalog/mounts/mount.ts";
export type {
  OperationAnswer,
  OperationDefinition,
  OperationHandler,
  OperationInput,
  OperationRegistry,
  RegisteredOperation,
  RegisterOptions,
  RegistryOptions,
} from "./catalog/mounts/operation-registry.ts";
export type { ContextCall, ContextFactory } from "./catalog/context/own-context.ts";
export type { Body, BodyDefinition } from "./catalog/content/resource-body.ts";
export type { RichBlock, RichContent, RichContentSchema } from "./catalog/content/rich-content.ts";
export type { NestedCallOptions, ToolContext } from "./catalog/context/tool-context.ts";

export type { CallEvent, CallNode, Calls, CallState } from "./call/call-tree.ts";

export { redactSecrets } from "./observe/redact-secrets.ts";
export type { RedactOptions, Redactor } from "./observe/redact-secrets.ts";
export type { Observer, ObserverOption } from "./observe/observers.ts";
export type { TraceContext } from "./surface/trace-context.ts";
export type {
  CallEnd,
  CallStart,
  LinkDown,
  LinkUp,
  MountChange,
  Observation,
  ObservedCaller,
  ObservedOperation,
  Outcome,
  QuestionAnswered,
  QuestionAsked,
  RefusalStage,
  Refused,
  RequestEnd,
  RequestStart,
  SessionEnd,
  SessionStart,
  StreamEnd,
  StreamStart,
  Transport,
  WorkEnd,
  WorkStart,
} from "./observe/observation.ts";
export type { LimitVerdict, RateLimiter } from "./call/limit-call.ts";

export { readViewRules } from "./views/read-view-rules.ts";
export { viewRulesFile } from "./views/view-rules-file.ts";
export type { HiddenEntry } from "./views/show.ts";
export type { ViewReplay } from "./views/replay-view.ts";
export type {
  DenyVerdict,
  OneOf,
  SurfaceVerdict,
  ViewCondition,
  ViewEntity,
  ViewFace,
  ViewPacket,
  ViewRule,
  ViewVerdict,
} from "./views/view-rules.ts";
export type { ViewRulesFile, ViewRulesFileOptions } from "./views/view-rules-file.ts";
export type { NamedView, NamedViews, ViewRules, ViewsInput } from "./views/view-rules.ts";

export { errorMetaKey } from "./mcp/render-result.ts";
export { truncatedMetaKey } from "./mcp/render-result.ts";
export type { ServableApp, ServeTarget, Serving } from "./mcp/servable-app.ts";

export { stdio } from "./stdio/stdio.ts";
export type { StdioOptions } from "./stdio/stdio.ts";

export { mcp } from "./builder/mcp.ts";
export { serveSurfaceAsMcp } from "./builder/serve-surface-as-mcp.ts";
export type { AskingOptions, McpOptions } from "./builder/app-definition.ts";
export type { AppNames, ExposedNames, OnceStep } from "./builder/app-names.ts";
export type { MountedApp } from "./builder/app-of-mount.ts";
export type { ReplayOptions } from "./builder/assemble-app.ts";
export type { ViewsOptions } from "./builder/view-names.ts";
export type { Exactly, MutatingToolNames, PromptNames, ResourceNames, ToolNames } from "./builder/exposure-helpers.ts";
export type { GenericApp, LinkedApp, TagNames, UnlinkedApp } from "./builder/stages.ts";
