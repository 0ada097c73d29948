import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeProgramFolder,
  makeProgramHome,
  readPostgresIdentity,
} from '../../scripts/program-postgres.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { postgresFolder, type ServerParameters } from './configure-member.ts';
import { PatroniMember } from './patroni-member.ts';

/** @returns the first of Debian's programs that is missing here; undefined if none is */
export function findMissingPatroni(): string | undefined {
  const missing = ['patroni', 'etcd', join(postgresFolder, 'postgres')].find(
    (program) => spawnSync(program, ['--version']).status !== 0,
  );
  return missing && `${missing} is not installed`;
}

/** Long enough to copy a member from scratch. */
const healTimeoutMs = 120_000;

interface StandbyState {
  readonly name: string;
  readonly synchronous: boolean;
}

/** The members of a cluster without a fault. */
export interface WholeCluster {
  readonly primary: PatroniMember;
  /** The synchronous one, if there is one. */
  readonly standby: PatroniMember;
  readonly other: PatroniMember;
}

/** Three members that Patroni manages, and the etcd that it needs, in a separate folder. */
export class PatroniCluster {
  readonly members: readonly PatroniMember[];
  readonly #folder: string;
  readonly #etcd: ChildProcess;
  readonly #synchronous: boolean;

  private constructor(
    folder: string,
    etcd: ChildProcess,
    members: readonly PatroniMember[],
    synchronous: boolean,
  ) {
    this.#folder = folder;
    this.#etcd = etcd;
    this.members = members;
    this.#synchronous = synchronous;
  }

  /** @param synchronous false: asynchronous replication */
  static async start(synchronous: boolean, parameters?: ServerParameters): Promise<PatroniCluster> {
    const folder = makeProgramHome();
    const { etcd, url } = await startEtcd(folder);
    const members: PatroniMember[] = [];
    for (const name of ['db1', 'db2', 'db3'])
      members.push(await PatroniMember.create(name, folder, url, synchronous, parameters));
    const cluster = new PatroniCluster(folder, etcd, members, synchronous);
    for (const member of members) member.start();
    await cluster.waitUntilWhole();
    return cluster;
  }

  /** For DATABASE_URL: all members, whichever is the primary. */
  get url(): string {
    const hosts = this.members.map(({ host }) => host).join(',');
    return `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`;
  }

  /** Resolves once both standbys replicate, one of them synchronously if it should. */
  async waitUntilWhole(): Promise<WholeCluster> {
    return waitFor('the cluster to be whole', () => this.#findWhole(), healTimeoutMs);
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    const exited = once(this.#etcd, 'exit');
    this.#etcd.kill('SIGKILL');
    await exited;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #findWhole(): Promise<WholeCluster | undefined> {
    for (const primary of this.members) {
      const states = await readStandbys(primary).catch(() => []);
      if (this.#synchronous && !states.some(({ synchronous }) => synchronous)) continue;
      const [standby, other] = states.map(({ name }) =>
        this.members.find((member) => member.name === name),
      );
      if (standby !== undefined && other !== undefined) return { primary, standby, other };
    }
    return undefined;
  }
}

/** @returns the standbys that replicate from a primary, the synchronous one first. @throws Error if it is none */
async function readStandbys(member: PatroniMember): Promise<StandbyState[]> {
  const client = await member.connect(2_000);
  try {
    const { rows } = await client.query<StandbyState>(
      `select application_name as name, sync_state = 'sync' as synchronous from pg_stat_replication
       where not pg_is_in_recovery() and state = 'streaming' and application_name like 'db_'
       order by sync_state = 'sync' desc`,
    );
    return rows;
  } finally {
    client.end().catch(() => undefined);
  }
}

async function startEtcd(folder: string) {
  const home = join(folder, 'etcd');
  makeProgramFolder(home);
  const [clients, peers] = [await freePort(), await freePort()];
  const [url, peerUrl] = [`http://127.0.0.1:${clients}`, `http://127.0.0.1:${peers}`];
  const log = openSync(`${home}.log`, 'a');
  const options = {
    'data-dir': join(home, 'data'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    'enable-v2': 'true',
  };
  const etcd = spawn(
    'etcd',
    Object.entries(options).map(([name, value]) => `--${name}=${value}`),
    { ...readPostgresIdentity(), cwd: home, stdio: ['ignore', log, log] },
  );
  await waitFor(
    'etcd',
    () =>
      fetch(`${url}/health`)
        .then(({ ok }) => ok)
        .catch(() => false),
    20_000,
  );
  return { etcd, url };
}
