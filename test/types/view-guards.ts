import type { Guard } from "./guard.ts";

const mounts: readonly Guard[] = [
  {
    promise: "names from a mount are counted",
    file: "builder/app-names.d.ts",
    guard: 'Names["tools"] | MountedName<TPrefix>',
    without: 'Names["tools"]',
    caughtBy: "mount.test-d.ts",
  },
  {
    promise: "what comes from a mount may change something",
    file: "builder/app-names.d.ts",
    guard: 'Names["mutating"] | MountedName<TPrefix>',
    without: 'Names["mutating"]',
    caughtBy: "mount.test-d.ts",
  },
  {
    promise: "a prefix that was asserted away counts as any name",
    file: "builder/app-names.d.ts",
    guard: "[TPrefix] extends [never] ? string :",
    without: "",
    caughtBy: "mount.test-d.ts",
  },
  {
    promise: "a prefix is a literal",
    file: "builder/app-names.d.ts",
    guard: "Record<never, never> extends Record<TPrefix, 1> ?",
    without: "string extends never ?",
    caughtBy: "mount.test-d.ts",
  },
  {
    promise: "a mount takes no name that is taken",
    file: "builder/app-names.d.ts",
    guard: "TTools extends TMounted ? TTools :",
    without: "",
    caughtBy: "mount.test-d.ts",
  },
  {
    promise: "a mount takes no name of another with a shorter prefix",
    file: "builder/app-names.d.ts",
    guard: ": TMounted extends TTools ? TTools : never",
    without: ": never",
    caughtBy: "mount.test-d.ts",
  },
];

const views: readonly Guard[] = [
  {
    promise: "the tools of a gateway are counted",
    file: "builder/view-names.d.ts",
    guard: 'Names["tools"] | FaceTools<TInput>',
    without: 'Names["tools"]',
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "a gateway may change something",
    file: "builder/view-names.d.ts",
    guard: '| (FaceTools<TInput> & "call")',
    without: "",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "the tool that replays is counted",
    file: "builder/view-names.d.ts",
    guard: "FaceTools<TInput> | ReplayTools<TReplay>;",
    without: "FaceTools<TInput>;",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "views() comes once",
    file: "builder/view-names.d.ts",
    guard: 'true extends TNames["viewed"] ?',
    without: "true extends never ?",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "a gateway takes no name that is taken",
    file: "builder/view-names.d.ts",
    guard: '[FaceTools<TInput> & KnownNames<TNames["tools"]>] extends [never]',
    without: "[1] extends [1]",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "the tool that replays takes no name that is taken",
    file: "builder/view-names.d.ts",
    guard: '[ ReplayTools<TReplay> & KnownNames<TNames["tools"]> ] extends [never]',
    without: "[1] extends [1]",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "views that were asserted away may be a gateway",
    file: "builder/view-names.d.ts",
    guard: "type FaceTools<TInput> = [TInput] extends [never] ? GatewayToolName :",
    without: "type FaceTools<TInput> =",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "a source of rules may hold a gateway some day",
    file: "builder/view-names.d.ts",
    guard: "TInput extends RulesSource ? GatewayToolName :",
    without: "TInput extends RulesSource ? never :",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "views by name are looked into whatever they are called",
    file: "builder/view-names.d.ts",
    guard: "GatewayInPacket<TInput> | GatewayInNamed<TInput>",
    without: "GatewayInPacket<TInput>",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "a view whose type is not literal may be a gateway",
    file: "builder/view-names.d.ts",
    guard: "true extends IsWide<TView[keyof TView]> ?",
    without: "true extends never ?",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "options of views say whether there is a tool that replays",
    file: "builder/view-names.d.ts",
    guard: "readonly replay: TReplay;",
    without: "readonly replay?: TReplay;",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "a face that may be a gateway counts as one",
    file: "builder/view-names.d.ts",
    guard: '"gateway" extends TFace ? GatewayToolName :',
    without: '[TFace] extends ["gateway"] ? GatewayToolName :',
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "views name what the app has",
    file: "builder/view-names.d.ts",
    guard: "& TKnown] extends [never] ? TPattern : never",
    without: "& TKnown] extends [never] ? never : never",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "views name it in texts that the compiler knows",
    file: "builder/view-names.d.ts",
    guard: "string extends TPattern ?",
    without: "string extends never ?",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "views have names that the compiler knows",
    file: "builder/view-names.d.ts",
    guard: "& LiteralKeys<TInput>",
    without: "",
    caughtBy: "views.test-d.ts",
  },
  {
    promise: "views() gets at least one view",
    file: "builder/view-names.d.ts",
    guard: "TInput extends readonly [] | Record<PropertyKey, never> ?",
    without: "TInput extends never ?",
    caughtBy: "views.test-d.ts",
  },
];

/** The guards of mounts and views. */
export const viewGuards: readonly Guard[] = [...mounts, ...views];
