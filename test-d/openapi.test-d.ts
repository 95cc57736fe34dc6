import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
import {
  defineSurface,
  mcp,
  type Caller,
  type MountSource,
  type MutatingToolNames,
  type ResourceNames,
  type ToolNames,
} from "surface-mcp";
import {
  fromOpenApi,
  operations as printed,
  type OpenApiDocument,
  type OpenApiExposure,
  type OpenApiFetch,
  type OpenApiOperation,
  type OpenApiWriteOptions,
} from "surface-mcp/from/openapi";

// As openapi-typescript 7 generates them.
interface paths {
  "/pets": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: operations["listPets"];
    put?: never;
    post: operations["create-pet"];
    delete?: never;
    head: operations["countPets"];
  };
  "/pets/{petId}": {
    parameters: { query?: never; header?: never; path: { petId: string }; cookie?: never };
    get: operations["pets/show"];
    delete: operations["deletePet"];
  };
}
interface operations {
  listPets: {
    parameters: { query?: { limit?: number }; header?: never; path?: never; cookie?: never };
    responses: { 200: { content: { "application/json": string[] } } };
  };
  countPets: { parameters: { query?: never; header?: never; path?: never; cookie?: never }; responses: { 204: {} } };
  "create-pet": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    requestBody: { content: { "application/json": { name: string } } };
    responses: { 201: { content: { "application/json": { id: number } } } };
  };
  "pets/show": {
    parameters: { query?: never; header?: never; path: { petId: string }; cookie?: never };
    responses: { 200: { content: { "application/json": { id: number } } } };
  };
  deletePet: {
    parameters: { query?: never; header?: never; path: { petId: string }; cookie?: never };
    responses: { 204: { content?: never } };
  };
}

declare const document: OpenApiDocument<paths, operations>;
declare const open: OpenApiDocument;
declare const either: boolean;
declare const anything: any;
const options = { baseUrl: "https://api.example" };

const pets = fromOpenApi(
  document,
  {
    listPets: "read",
    "create-pet": { write: { confirm: true, scopes: ["pets"] } },
    "pets/show": { read: { title: "Show" } },
    "DELETE /pets/{petId}": "write",
    "HEAD /pets": { read: { name: "count" } },
    "GET /pets": "resource",
  },
  options,
);
expectAssignable<MountSource>(pets);
const app = mcp(defineSurface("hub", {})).implement({}).mount("api", pets);
expectType<"api_listPets" | "api_create-pet" | "api_pets_show" | "api_DELETE_pets_petId" | "api_count">(
  nameOf<ToolNames<typeof app>>(),
);
expectType<"api_create-pet" | "api_DELETE_pets_petId">(nameOf<MutatingToolNames<typeof app>>());
expectType<"api/GET_pets">(nameOf<ResourceNames<typeof app>>());
expectType<string>(printed(document));

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
expectError(fromOpenApi(document, { "create-pet": "read" }, options));
expectError(fromOpenApi(document, { deletePet: { read: {} } }, options));
expectError(fromOpenApi(document, { deletePet: either ? "read" : "write" }, options));
expectError(fromOpenApi(document, { "GET /pets/{petId}": "resource" }, options));
expectError(fromOpenApi(document, { "pets/show": "resource" }, options));
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
