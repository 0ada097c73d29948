import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { MariaDbCustomer, PostgresCustomer } from '../support/customer-database.ts';
import { OutboxProof, type ServiceNode, say } from '../support/outbox-proof.ts';

/** Length of the load, rows a second of each source, and seconds between faults. */
const minutes = Number(process.env.OUTBOX_MINUTES ?? 30);
const rate = Number(process.env.OUTBOX_RATE ?? 67);
const every = Number(process.env.OUTBOX_EVERY ?? 4);
/** Longer than a lease, so that two nodes read the same rows. */
const sleepMs = 20_000;

const random = (min: number, max: number): number => min + Math.random() * (max - min);

interface Fault {
  readonly kind: string;
  /** No other fault is injected into it meanwhile. */
  readonly target: object;
  /** @returns false if there was nothing to inject it into */
  readonly inject: () => Promise<unknown>;
}

/** Every fault once, or twice, in another order each time. */
class FaultRound {
  readonly #postgres: readonly PostgresCustomer[];
  readonly #mariaDb: MariaDbCustomer;
  readonly #proof: OutboxProof;
  #columns = 0;
  #readers = 0;

  constructor(postgres: readonly PostgresCustomer[], mariaDb: MariaDbCustomer, proof: OutboxProof) {
    this.#postgres = postgres;
    this.#mariaDb = mariaDb;
    this.#proof = proof;
  }

  next(): Fault[] {
    const all = [
      ...this.#ofService(),
      ...[...this.#postgres, this.#mariaDb].flatMap((source) => this.#ofSource(source)),
      ...this.#postgres.flatMap((source): Fault[] => [
        { kind: 'drop slot', target: source, inject: () => source.dropSlot() },
        ...(source.isEncrypted ? [] : [this.#cutAnswers(source)]),
      ]),
    ];
    return all
      .map((fault) => ({ fault, order: Math.random() }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ fault }) => fault);
  }

  /** The gate finds the connections by what they send first. */
  #cutAnswers(source: PostgresCustomer): Fault {
    return {
      kind: 'cut answers',
      target: source,
      inject: () => this.#during(source, (gate) => gate.cutAnswers('signalpost outbox'), 2_000),
    };
  }

  /** The reader that took over from the other one. */
  #takeReader(): ServiceNode {
    this.#readers += 1;
    const [first, second] = this.#proof.readers;
    return this.#readers % 2 === 0 ? second : first;
  }

  #ofService(): Fault[] {
    const { nodes } = this.#proof;
    const killReader = {
      kind: 'kill reader',
      target: this.#proof,
      inject: () => this.#takeReader().kill(),
    };
    return [
      killReader,
      killReader,
      {
        kind: 'kill service',
        target: this.#proof,
        inject: () => Promise.all(nodes.map((node) => node.kill())),
      },
      {
        kind: 'sleep reader',
        target: this.#proof,
        inject: async () => {
          const reader = this.#takeReader();
          reader.signal('SIGSTOP');
          await delay(sleepMs);
          reader.signal('SIGCONT');
        },
      },
    ];
  }

  #ofSource(source: PostgresCustomer | MariaDbCustomer): Fault[] {
    return [
      {
        kind: `kill ${source.name}`,
        target: source,
        async inject() {
          await source.kill();
          await delay(random(200, 4_000));
          await source.start();
        },
      },
      {
        kind: 'cut network',
        target: source,
        inject: () => this.#during(source, (gate) => gate.close(), 3_000),
      },
      {
        kind: 'lose packets',
        target: source,
        inject: () => this.#during(source, (gate) => gate.hold(), 12_000),
      },
      {
        kind: 'delay packets',
        target: source,
        inject: () => this.#during(source, (gate) => gate.freeze(), 12_000),
      },
      {
        kind: 'alter table',
        target: source,
        inject: () => {
          this.#columns += 1;
          return source.alter(`added_${this.#columns}`);
        },
      },
    ];
  }

  /** Does something to the network of a source for a time of at most this length. */
  async #during(
    { gate }: PostgresCustomer | MariaDbCustomer,
    change: (changed: typeof gate) => void,
    maxMs: number,
  ): Promise<void> {
    change(gate);
    await delay(random(200, maxMs));
    gate.open();
  }
}

/** Injects one fault after another until a time; those of other targets overlap. @returns how many there were of each kind */
async function injectFaults(round: FaultRound, until: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const busy = new Set<object>();
  const running = new Set<Promise<void>>();
  let failure: Error | undefined;
  let waiting: Fault[] = [];
  const inject = async (fault: Fault): Promise<void> => {
    try {
      if ((await fault.inject()) === false) return;
      counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
    } catch (error) {
      failure ??= new Error(`can't ${fault.kind}`, { cause: error });
    } finally {
      busy.delete(fault.target);
    }
  };
  while (Date.now() < until && failure === undefined) {
    await delay(random(0.5, 1.5) * every * 1_000);
    if (waiting.length === 0) waiting = round.next();
    const index = waiting.findIndex(({ target }) => !busy.has(target));
    const [fault] = index === -1 ? [] : waiting.splice(index, 1);
    if (fault === undefined) continue;
    busy.add(fault.target);
    running.add(inject(fault));
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
  return counts;
}

test('each committed row of three databases is mailed once and no rolled-back one, whatever is killed, cut off, altered or lost', {
  // The answers, the queue and the comparison come after the minutes of load.
  timeout: (minutes + 45) * 60_000,
}, async (t) => {
  const authority = new TestAuthority();
  const authorityFile = join(temporaryFolder(), 'authority.pem');
  writeFileSync(authorityFile, authority.ca);
  const certificate = authority.issue(['localhost']);
  const postgres = [
    await PostgresCustomer.start('postgresql15', '/usr/lib/postgresql/15/bin', certificate),
    await PostgresCustomer.start('postgresql18'),
  ];
  const mariaDb = await MariaDbCustomer.start('mariadb', certificate);
  await using proof = await OutboxProof.open([...postgres, mariaDb], {
    NODE_EXTRA_CA_CERTS: authorityFile,
  });
  proof.startWriting(rate);
  const round = new FaultRound(postgres, mariaDb, proof);
  const faults = await injectFaults(round, Date.now() + minutes * 60_000);
  const { counts, findings } = await proof.finish();
  const summary = JSON.stringify({ ...counts, faults });
  say(summary);
  t.diagnostic(summary);
  assert.deepEqual(findings, []);
  for (const node of proof.nodes) await node.requireRunning();
});
