import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder of Debian's packages, one folder a version. */
const packages = "/usr/lib/postgresql";

/** Returns the folder of the newest Postgres on this machine. */
function findPostgres(): string | undefined {
  if (!existsSync(packages)) return undefined;
  const folders = readdirSync(packages).map((version) => join(packages, version, "bin"));
  return folders.filter((folder) => existsSync(join(folder, "initdb"))).at(-1);
}

/** Returns the id of the user `postgres`, since root may not run Postgres. */
function idOf(flag: "-u" | "-g"): number {
  return Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
}

/** A Postgres server with a database of its own. */
export class PostgresServer {
  readonly #bin: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "tracker-pg-"));
  readonly #user: SpawnSyncOptions;

  /** @throws Error where Postgres is not installed. */
  constructor() {
    const bin = findPostgres();
    if (bin === undefined) throw new Error(`there is no Postgres in ${packages}: apt-get install postgresql`);
    this.#bin = bin;
    this.#user = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
    if (this.#user.uid !== undefined) chownSync(this.#folder, this.#user.uid, this.#user.gid ?? 0);
    this.#run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", this.#data);
  }

  /** Whether Postgres is installed. */
  static readonly isInstalled = findPostgres() !== undefined;

  get #data(): string {
    return join(this.#folder, "data");
  }

  /** The address of the database, on a Unix socket: no port can be taken. */
  get url(): string {
    return `postgres://postgres@localhost/postgres?host=${this.#folder}`;
  }

  start(): void {
    const options = `-k ${this.#folder} -c listen_addresses='' -c fsync=off`;
    this.#run("pg_ctl", "start", "-w", "-t", "60", "-D", this.#data, "-l", join(this.#folder, "log"), "-o", options);
  }

  /** Ends the server and every connection to it. */
  stop(): void {
    this.#run("pg_ctl", "stop", "-w", "-t", "60", "-m", "fast", "-D", this.#data);
  }

  /** Removes the data, and ends the server if it runs. */
  remove(): void {
    if (existsSync(join(this.#data, "postmaster.pid"))) this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program: string, ...args: readonly string[]): void {
    // The server would keep pipes open: it writes to its log.
    const { status } = spawnSync(join(this.#bin, program), args, { ...this.#user, cwd: this.#folder, stdio: "ignore" });
    if (status !== 0) throw new Error(`Cannot run ${program}: it ended with code ${String(status)}`);
  }
}
