import * as newest from "@trpc/server";
import { observable } from "@trpc/server/observable";
import * as eleven from "trpc-server-11-0";
import { observable as observableOfEleven } from "trpc-server-11-0/observable";
import * as ten from "trpc-server-10";
import { observable as observableOfTen } from "trpc-server-10/observable";

/** The functions of tRPC that the shop is made of. */
export type Trpc = Pick<typeof newest, "initTRPC" | "TRPCError" | "tracked" | "lazy"> & {
  readonly observable: typeof observable;
};

/** A supported version of tRPC. */
export interface TrpcVersion {
  readonly version: string;
  readonly trpc: Trpc;
}

/** The newest version. */
export const current: Trpc = { ...newest, observable };

// The types of two versions differ in private parts only, and the shop of tRPC 10 uses neither lazy parts nor a signal.
/** The newest version and the oldest, which have lazy parts, and end a subscription by its signal. */
export const elevens: readonly TrpcVersion[] = [
  { version: "11", trpc: current },
  { version: "11.0", trpc: { ...eleven, observable: observableOfEleven } as unknown as Trpc },
];

/** All versions. Items of `tracked()` are plain lists, which tRPC 10 passes on. */
export const versions: readonly TrpcVersion[] = [
  ...elevens,
  {
    version: "10.45",
    trpc: { tracked: newest.tracked, ...ten, observable: observableOfTen } as unknown as Trpc,
  },
];
