interface EmitOptions {
  readonly noCheck?: boolean;
}

export const entries: readonly string[];

export function compileDeclarations(out: string, options?: EmitOptions): void;

export function emitDeclarations(out: string, options?: EmitOptions): Promise<void>;
