/** One thing in the types that keeps a promise, and what the types are without it. */
export interface Guard {
  /** What it promises. */
  readonly promise: string;
  /** The declaration file that holds it, relative to the package. */
  readonly file: string;
  /** Its text, in which a space stands for any white space. */
  readonly guard: string;
  readonly without: string;
  /** The type test that must fail without it. */
  readonly caughtBy: string;
}

const tags: readonly Guard[] = [
  {
    promise: "a tagged member is not assignable to an untagged annotation",
    file: "surface/member.d.ts",
    guard: "readonly [kExposure]: TExposure;",
    without: "readonly [kExposure]: Exposure;",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "a kind that cannot be a tool is refused",
    file: "tags/mcp-tool.d.ts",
    guard: ': TypeProblem<`a ${TMember["kind"]} cannot be a tool: tag it with mcpResource()`>',
    without: ": unknown",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "a procedure cannot be a resource",
    file: "tags/mcp-resource.d.ts",
    guard: ': TypeProblem<"a procedure cannot be a resource: tag it with mcpTool()">',
    without: ": unknown",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "a tool takes no second tag",
    file: "tags/mcp-tool.d.ts",
    guard: '[TMember[typeof kExposure]] extends ["none"]',
    without: "[1] extends [1]",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "a resource takes no second tag",
    file: "tags/mcp-resource.d.ts",
    guard: '[TMember[typeof kExposure]] extends ["none"]',
    without: "[1] extends [1]",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "no input field has the name of a synthetic one",
    file: "tags/mcp-tool.d.ts",
    guard: 'InputKeys<TMember> & SyntheticField<TMember["kind"]>',
    without: "never",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "an arm of a union has no such field either",
    file: "tags/mcp-tool.d.ts",
    guard: "type KeysOfArms<TUnion> = TUnion extends unknown ?",
    without: "type KeysOfArms<TUnion> = [TUnion] extends [unknown] ?",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "the input of a resource is flat",
    file: "tags/mcp-resource.d.ts",
    guard: "[UnfitForUri<StandardSchemaV1.InferInput<Input>>] extends [never]",
    without: "[never] extends [never]",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "options do not contradict their member",
    file: "tags/mcp-tool.d.ts",
    guard: "ToolKindProblem<TMember> & ContradictionProblem<TMember, TOptions>",
    without: "ToolKindProblem<TMember>",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "options that do not exist are refused",
    file: "tags/mcp-tool.d.ts",
    guard: "$Options & OnlyToolOptions<$Options>",
    without: "$Options",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "any does not say that a tool reads",
    file: "tags/mcp-tool.d.ts",
    guard: "[TSaid, false] extends [false, TSaid] ? true extends TSaid ?",
    without: "[TSaid, false] extends [false, TSaid] ? [1] extends [2] ?",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "readOnly() contradicts no option",
    file: "tags/read-only.d.ts",
    guard: 'TypeProblem<"this tool\'s options say that it mutates: it cannot be read-only">',
    without: "unknown",
    caughtBy: "tags.test-d.ts",
  },
];

const surface: readonly Guard[] = [
  {
    promise: "a spec has literal keys",
    file: "surface/define-surface.d.ts",
    guard: "string extends keyof TRecord ? TypeProblem<NotLiteral>",
    without: "string extends keyof TRecord ? unknown",
    caughtBy: "define-surface.test-d.ts",
  },
  {
    promise: "a surface is not one of fewer members",
    file: "surface/define-surface.d.ts",
    guard: "readonly [kKeys]: readonly TKeys[];",
    without: "",
    caughtBy: "define-surface.test-d.ts",
  },
  {
    promise: "an object that resembles a surface is none",
    file: "surface/define-surface.d.ts",
    guard: "readonly [kKeys]: readonly TKeys[];",
    without: "readonly [kKeys]?: readonly TKeys[];",
    caughtBy: "define-surface.test-d.ts",
  },
  {
    promise: "a member has no input that nobody declared",
    file: "surface/member.d.ts",
    guard: "TSchema extends infer Known extends MaybeSchema ? Known : never",
    without: "TSchema",
    caughtBy: "define-surface.test-d.ts",
  },
  {
    promise: "a collection's key can be spelled in a URI",
    file: "surface/collection.d.ts",
    guard: "[UnfitForUri<InferOutput<TKey>>] extends [never]",
    without: "[never] extends [never]",
    caughtBy: "define-surface.test-d.ts",
  },
  {
    promise: "every member has a handler",
    file: "surface/implementation.d.ts",
    guard: "readonly [Key in keyof TSpec]: MemberImplementation<TSpec[Key]>;",
    without: "readonly [Key in keyof TSpec]?: MemberImplementation<TSpec[Key]>;",
    caughtBy: "implement.test-d.ts",
  },
  {
    promise: "a source that is written in place is told what it is called with",
    file: "surface/observable.d.ts",
    guard: "<TObserver extends ValueObserver<TValue>>(observer: TObserver):",
    without: "(observer: ValueObserver<TValue>):",
    caughtBy: "sources.test-d.ts",
  },
];

const exposeMap: readonly Guard[] = [
  {
    promise: "only members of the surface can be exposed",
    file: "catalog/expose.d.ts",
    guard: ': TypeProblem<`"${Key & string}" is not a member of this surface`>',
    without: ": unknown",
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a member is exposed as its kind allows",
    file: "catalog/expose.d.ts",
    guard: "TExpose[Key] & ExposureProblem<TSpec[Key], TExpose[Key]>",
    without: "TExpose[Key]",
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a tagged member is not exposed as well",
    file: "catalog/expose.d.ts",
    guard: ': TypeProblem<"this member is tagged already: expose it in one place">',
    without: ": unknown",
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "an expose value has no key too many",
    file: "catalog/expose.d.ts",
    guard: "& ExcessProblem<TValue>",
    without: "",
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a member is exposed once",
    file: "builder/stages.d.ts",
    guard: 'Key extends TNames["exposed"] ?',
    without: "Key extends never ?",
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a widened value counts as a tool",
    file: "catalog/expose.d.ts",
    guard: 'TExpose[Key] extends "resource" | undefined ? never : Key; }',
    without: 'TExpose[Key] extends "tool" | { readonly tool: unknown } ? Key : never; }',
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a widened value counts as a resource",
    file: "catalog/expose.d.ts",
    guard: '"resource" extends TExpose[Key] ? Key : never',
    without: 'TExpose[Key] extends "resource" ? Key : never',
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a value of type never counts as a tool",
    file: "catalog/expose.d.ts",
    guard: '[TExpose[Key]] extends [never] ? Key : TExpose[Key] extends "resource"',
    without: 'TExpose[Key] extends "resource"',
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a value of type never counts as a resource",
    file: "catalog/expose.d.ts",
    guard: '[TExpose[Key]] extends [never] ? Key : "resource" extends TExpose[Key]',
    without: '"resource" extends TExpose[Key]',
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a value of type never does not say that a tool reads",
    file: "catalog/expose.d.ts",
    guard: "SaysReadOnly<TValue> = [TValue] extends [never] ? false :",
    without: "SaysReadOnly<TValue> =",
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "a map of type never counts as all names",
    file: "catalog/expose.d.ts",
    guard: "[TExpose] extends [never] ? string :",
    without: "",
    caughtBy: "expose.test-d.ts",
  },
  {
    promise: "one map or the other counts as both",
    file: "catalog/expose.d.ts",
    guard: "ExposedToolKeys<TExpose> = [TExpose] extends [never] ? string : TExpose extends unknown ?",
    without: "ExposedToolKeys<TExpose> = [TExpose] extends [never] ? string : [TExpose] extends [unknown] ?",
    caughtBy: "expose.test-d.ts",
  },
];

const names: readonly Guard[] = [
  {
    promise: "a member whose tag cannot be seen counts as exposed",
    file: "builder/stages.d.ts",
    guard: "TSpec[Key] extends { readonly [kExposure]: infer Tag; } ? MayBe<TTag, Tag, Key> : Key",
    without: "TSpec[Key] extends { readonly [kExposure]: TTag; } ? Key : never",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "a member or tag that is any counts as exposed",
    file: "builder/stages.d.ts",
    guard: "[TTag] extends [TKnown] ? TThen : never",
    without: "[TKnown] extends [Exclude<Exposure, TTag>] ? never : TThen",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "a member or tag that is never counts as exposed",
    file: "builder/stages.d.ts",
    guard: "[TKnown] extends [never] ? TThen :",
    without: "",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "a member that is never counts as mutating",
    file: "tags/provably-reads.d.ts",
    guard: "[TMember] extends [never] ? false :",
    without: "",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "an effect that is any does not read",
    file: "tags/provably-reads.d.ts",
    guard: '"mutates" extends TEffect ? false : true',
    without: "true",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "an effect that is never does not read",
    file: "tags/provably-reads.d.ts",
    guard: '[TEffect, "read"] extends ["read", TEffect]',
    without: '[TEffect] extends ["read"]',
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "tool options that are never do not say that a tool reads",
    file: "tags/mcp-tool.d.ts",
    guard: 'EffectOf<TMember, TOptions> = [TOptions] extends [never] ? "mutates" :',
    without: "EffectOf<TMember, TOptions> =",
    caughtBy: "tags.test-d.ts",
  },
  {
    promise: "a spec that is never counts as all names",
    file: "builder/stages.d.ts",
    guard: "[TSpec] extends [never] ? string :",
    without: "",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "a member whose effect cannot be seen counts as mutating",
    file: "builder/stages.d.ts",
    guard: "[ProvablyReads<TSpec[Key & keyof TSpec]>] extends [true] ? never : Key",
    without:
      'TSpec[Key & keyof TSpec] extends { readonly kind: "procedure"; readonly [kExposure]: "tool" } ? Key : never',
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "one spec or the other counts as both",
    file: "builder/stages.d.ts",
    guard: "TaggedKeys<TSpec, TTag extends Exposure> = [TSpec] extends [never] ? string : TSpec extends unknown ?",
    without:
      "TaggedKeys<TSpec, TTag extends Exposure> = [TSpec] extends [never] ? string : [TSpec] extends [unknown] ?",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "any is no app",
    file: "builder/exposure-helpers.d.ts",
    guard: "0 extends 1 & TApp ? TypeProblem<NotAnApp> :",
    without: "",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "never is no app",
    file: "builder/exposure-helpers.d.ts",
    guard: "[TApp] extends [never] ? TypeProblem<NotAnApp> :",
    without: "",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "an app of any names is no app",
    file: "builder/exposure-helpers.d.ts",
    guard: "0 extends 1 & TNames ? TypeProblem<NotAnApp> :",
    without: "",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "an app without a link answers with a sentence",
    file: "builder/exposure-helpers.d.ts",
    guard: "? TypeProblem<NotLinked> : TypeProblem<NotAnApp>",
    without: "? never : TypeProblem<NotAnApp>",
    caughtBy: "exposure-helpers.test-d.ts",
  },
  {
    promise: "an app is not one with fewer names",
    file: "builder/stages.d.ts",
    guard: "readonly [kNames]: TNames;",
    without: "",
    caughtBy: "builder.test-d.ts",
  },
];

const stages: readonly Guard[] = [
  {
    promise: "nothing is served before there is a link",
    file: "builder/stages.d.ts",
    guard: 'readonly serve: TypeProblem<"serve() needs a link: call .bridge(link) or .implement(handlers) first">;',
    without: "serve(target?: ServeTarget): Promise<Serving>;",
    caughtBy: "builder.test-d.ts",
  },
  {
    promise: "an app has one link",
    file: "builder/stages.d.ts",
    guard: 'readonly bridge: TypeProblem<"this app is linked already: one bridge() or implement() an app">;',
    without: "bridge(link: Link): this;",
    caughtBy: "builder.test-d.ts",
  },
  {
    promise: "a bespoke tool takes no name that is taken",
    file: "builder/stages.d.ts",
    guard: "ToolNameProblem<TNames, `${Key}`> &",
    without: "",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "an expose map takes no name that a bespoke tool has",
    file: "builder/stages.d.ts",
    guard: 'WireName<Key & string> extends TNames["tools"] ?',
    without: "WireName<Key & string> extends never ?",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "the tools of pull() take no name that is taken",
    file: "builder/stages.d.ts",
    guard: '[PullToolName & TNames["tools"]] extends [never]',
    without: "[1] extends [1]",
    caughtBy: "pull.test-d.ts",
  },
  {
    promise: "the tools of pull() are counted",
    file: "builder/stages.d.ts",
    guard: 'Names["tools"] | PullToolName',
    without: 'Names["tools"]',
    caughtBy: "pull.test-d.ts",
  },
  {
    promise: "the tools of pull() take no name in one call either",
    file: "builder/serve-surface-as-mcp.d.ts",
    guard: "true extends TPull ?",
    without: "never extends 1 ? TagNames<TSpec> : never extends TPull ?",
    caughtBy: "pull.test-d.ts",
  },
  {
    promise: "bespoke tools have literal names",
    file: "builder/stages.d.ts",
    guard: "& LiteralKeys<Record<TKeys, unknown>>",
    without: "",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "bespoke tools are counted",
    file: "builder/stages.d.ts",
    guard: 'TNames["tools"] | WireName<`${TKeys}`>',
    without: 'TNames["tools"]',
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a tool that may not say that it reads counts as mutating",
    file: "builder/stages.d.ts",
    guard: "[TTool] extends [{ readonly mutates: infer Said; }]",
    without: "[TTool] extends [{ readonly mutates?: infer Said; }]",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "an arm of a tool that does not say that it reads counts as mutating",
    file: "builder/stages.d.ts",
    guard: "[TTool] extends [{ readonly mutates: infer Said; }]",
    without: "Extract<TTool, { readonly mutates: unknown }> extends { readonly mutates: infer Said; }",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a tool is looked at as a whole",
    file: "builder/stages.d.ts",
    guard: "[TTool] extends [never] ? TTool :",
    without: "[TTool] extends [never] ? { readonly mutates?: TTool } :",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a tool that reads by its type argument says so itself",
    file: "builder/stages.d.ts",
    guard: "{ readonly mutates: false; readonly destructive?:",
    without: "{ readonly mutates?: false; readonly destructive?:",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a bespoke tool that reads does not destroy",
    file: "builder/stages.d.ts",
    guard: "boolean & ToolOptionsProblem<ReadsAndDestroys>",
    without: "boolean",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a tool is checked also where no input is inferred",
    file: "builder/stages.d.ts",
    guard: "(Key extends keyof TInputs ? unknown : BespokeTool<undefined, TSpec>)",
    without: "unknown",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "the test client has no tool that is not exposed",
    file: "testing/test-client.d.ts",
    guard: 'readonly [Name in TNames["tools"]]:',
    without: "readonly [Name in string]:",
    caughtBy: "test-client.test-d.ts",
  },
];

/** The guards that the proof rests on. */
export const guards: readonly Guard[] = [...tags, ...surface, ...exposeMap, ...names, ...stages];
