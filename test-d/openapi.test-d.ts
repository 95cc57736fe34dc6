import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
import {
  defineSurface,
  mcp,
  type Caller,
  type MountSource,
  type MutatingToolNames,
  type ResourceNames,
  type ServableApp,
  type ToolNames,
} from "surface-mcp";
import {
  fromOpenApi,
  mcpOpenApi,
  operations as printed,
  type OpenApiDocument,
  type OpenApiExposure,
  type OpenApiFetch,
  type OpenApiOperation,
  type OpenApiWriteOptions,
} from "surface-mcp/from/openapi";
import type { operations, paths } from "./generated/petstore.ts";

declare const document: OpenApiDocument<paths, operations>;
declare const open: OpenApiDocument;
declare const either: boolean;
declare const anything: any;
const options = { baseUrl: "https://api.example" };

const pets = fromOpenApi(
  document,
  {
    listPets: "read",
    createPet: { write: { confirm: true, scopes: ["pets"] } },
    showPet: { read: { title: "Show" } },
    "DELETE /pets/{petId}": "write",
    "HEAD /pets": { read: { name: "count" } },
    "GET /pets": "resource",
  },
  options,
);
expectAssignable<MountSource>(pets);
const app = mcp(defineSurface("hub", {})).implement({}).mount("api", pets);
expectType<"api_listPets" | "api_createPet" | "api_showPet" | "api_DELETE_pets_petId" | "api_count">(
  nameOf<ToolNames<typeof app>>(),
);
expectType<"api_createPet" | "api_DELETE_pets_petId">(nameOf<MutatingToolNames<typeof app>>());
expectType<"api/GET_pets">(nameOf<ResourceNames<typeof app>>());
expectType<string>(printed(document));
const alone = mcpOpenApi(
  document,
  { showPet: "read", deletePet: "write", health: "resource" },
  { ...options, version: "1" },
);
expectAssignable<ServableApp>(alone);
expectType<"showPet" | "deletePet">(nameOf<ToolNames<typeof alone>>());
expectType<"deletePet">(nameOf<MutatingToolNames<typeof alone>>());
expectType<"health">(nameOf<ResourceNames<typeof alone>>());
expectError(mcpOpenApi(document, { deletePet: "read" }, options));
expectError(mcpOpenApi(document, { "HEAD /pets": "resource" }, options));
expectError(mcpOpenApi(document, { listPetz: "read" }, options));
expectError(mcpOpenApi(document, {}, { version: "1" }));

// Keys are operations.
expectError(fromOpenApi(document, { listPetz: "read" }, options));
expectError(fromOpenApi(document, { "GET /petz": "read" }, options));
expectError(fromOpenApi(document, { "PUT /pets": "write" }, options));
expectError(fromOpenApi(document, { "get /pets": "read" }, options));
expectError(fromOpenApi(document, { "*": "read" }, options));
expectError(fromOpenApi(document, { toString: "read" }, options));
const misspelt = { listPetz: "read" } as const;
expectError(fromOpenApi(document, misspelt, options));
const map = { listPets: "read" } as const;
fromOpenApi(document, map, options);
fromOpenApi(document, {}, options);
fromOpenApi(document, { listPets: undefined }, options);

// Values fit the method.
expectError(fromOpenApi(document, { "POST /pets": "read" }, options));
expectError(fromOpenApi(document, { "DELETE /pets/{petId}": "resource" }, options));
expectError(fromOpenApi(document, { createPet: "read" }, options));
expectError(fromOpenApi(document, { deletePet: { read: {} } }, options));
expectError(fromOpenApi(document, { deletePet: either ? "read" : "write" }, options));
expectError(fromOpenApi(document, { "GET /pets/{petId}": "resource" }, options));
expectError(fromOpenApi(document, { showPet: "resource" }, options));
expectError(fromOpenApi(document, { listPets: "tool" }, options));
expectError(fromOpenApi(document, { listPets: true }, options));
expectError(fromOpenApi(document, { listPets: {} }, options));
fromOpenApi(document, { listPets: "write" }, options);

// No option makes an operation read.
expectError(fromOpenApi(document, { listPets: { read: { title: 1 } } }, options));
expectError(fromOpenApi(document, { listPets: { read: { titel: "Pets" } } }, options));
expectNotAssignable<OpenApiWriteOptions>({ type: "query" });
expectAssignable<OpenApiExposure>({ write: { destructive: true } });
expectNotAssignable<OpenApiExposure>({ read: { destructive: true } });

// Without generated types, names are those of the map, and startup checks them.
const untyped = fromOpenApi(open, { "x/y": "read", other: "write" }, options);
const untypedApp = mcp(defineSurface("hub", {})).implement({}).mount("api", untyped);
expectType<"api_x_y" | "api_other">(nameOf<ToolNames<typeof untypedApp>>());
const numbered = mcpOpenApi(open, { 5: "write" }, options);
expectType<"5">(nameOf<MutatingToolNames<typeof numbered>>());
const escaped = fromOpenApi(
  open,
  {
    "GET /": "read",
    "GET //a/": "read",
    "GET /b_/{id}": "read",
    "GET /c/{id}.json": "read",
    "PUT /d/é": "write",
    "{e}": "read",
  },
  options,
);
const escapedApp = mcp(defineSurface("hub", {})).implement({}).mount("api", escaped);
expectType<"api_GET" | "api_GET_a" | "api_GET_b__id" | "api_GET_c_id__json" | "api_PUT_d" | "api_e">(
  nameOf<ToolNames<typeof escapedApp>>(),
);
const cast = fromOpenApi(anything, { listPets: either ? "write" : "resource" }, options);
const castApp = mcp(defineSurface("hub", {})).implement({}).mount("api", cast);
expectType<"api_listPets">(nameOf<MutatingToolNames<typeof castApp>>());
expectType<"api/listPets">(nameOf<ResourceNames<typeof castApp>>());
const castMap = fromOpenApi(document, anything, options);
const castMapApp = mcp(defineSurface("hub", {})).implement({}).mount("api", castMap);
expectType<`api_${string}`>(nameOf<ToolNames<typeof castMapApp>>());

// Options.
fromOpenApi(
  document,
  {},
  {
    ...options,
    fetch: globalThis.fetch,
    credentials: async (operation, caller, signal) => {
      expectType<OpenApiOperation>(operation);
      expectType<Caller>(caller);
      expectType<AbortSignal>(signal);
      return { authorization: "Bearer x" };
    },
  },
);
expectAssignable<OpenApiFetch>(globalThis.fetch);
expectError(fromOpenApi(document, {}));
expectError(fromOpenApi(document, {}, {}));
expectError(fromOpenApi(document, {}, { ...options, more: 1 }));
expectError(fromOpenApi(document, {}, { ...options, credentials: { authorization: "x" } }));
expectError(fromOpenApi({}, {}, options));
expectError(fromOpenApi("https://api.example/openapi.json", {}, options));

declare function nameOf<TName>(): TName;
