// The declarations of PGlite name types of the browser and of Emscripten. Programs with `skipLibCheck` do not need this file.
declare namespace WebAssembly {
  type Imports = object;
  type Instance = object;
  type Memory = object;
}
declare namespace Emscripten {
  type FileSystemType = object;
}
type EmscriptenModule = object;
type IDBDatabase = object;
declare const FS: object;
