import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { addKey } from '../../test/support/api-key.ts';
import { openBenchAccount } from '../bench-account.ts';
import { countRows, makeTemporaryFolder, startBenchDatabase } from '../bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult, median } from '../bench-result.ts';
import { startBenchService } from '../bench-service.ts';
import { multiplyAccounts } from '../copy-rows.ts';
import { composeLetter } from '../deliver/letter.ts';
import { findMissingPostfix } from '../deliver/postfix-peer.ts';
import { LatencyHistogram } from '../latency-histogram.ts';
import { measureUse, processTree, readResident, usePerRequest } from '../machine-use.ts';
import { BenchSmtpSession } from './bench-smtp-session.ts';
import { startPostfixSubmission } from './postfix-submission.ts';
import { runSubmissionAttack, submissionAttacks } from './submission-attack.ts';
import { chooseBenchSubmission, makeBenchCertificate } from './submission-files.ts';
import {
  runSubmissionLoad,
  type SubmissionLogin,
  type SubmissionOrder,
  type SubmissionReport,
} from './submission-load.ts';

const sessionCases = [1, 20] as const;
/** Sessions whose memory is measured; the accounts share them. */
const idleSessions = 1_000;
const sessionsPerAccount = 50;
const idleLimitMib = 100;
const politePerSecond = 20;
const addedLimitMs = 100;

/** Submitting over SMTP beside Postfix, then beside slow clients, and the memory of idle sessions. */
export async function benchSubmission(options: BenchOptions): Promise<BenchResult[]> {
  const isChosen = (attack: string): boolean => options.attack?.includes(attack) ?? true;
  const results = options.attack === undefined ? await measureBesidePostfix(options) : [];
  for (const attack of submissionAttacks)
    if (isChosen(attack)) results.push(await measureBeside(options, attack));
  if (options.attack === undefined) results.push(await measureIdleSessions(options));
  return results;
}

/** A service that only accepts, on a new database, and the credentials of its accounts. */
async function openSubmission(
  { nodeOptions }: BenchOptions,
  { processes, accounts = 1 }: { readonly processes: number; readonly accounts?: number },
) {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await makeTemporaryFolder());
  const bench = opening.use(await startBenchDatabase());
  const { database } = bench;
  const shop = await openBenchAccount(database);
  const ids = accounts === 1 ? [shop.id] : await multiplyAccounts(database, shop, accounts);
  const logins = await Promise.all(ids.map((id) => makeLogin(database, id)));
  const certificate = await makeBenchCertificate(folder.path);
  const submission = await chooseBenchSubmission(certificate.files);
  const { environment } = submission;
  const service = opening.use(
    await startBenchService(bench, { processes, nodeOptions, environment }),
  );
  const [login] = logins;
  if (login === undefined) throw new Error('there is no account');
  const opened = opening.move();
  return {
    ...{ database, service, folder: folder.path, files: certificate.files, login, logins },
    port: submission.port,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function makeLogin(database: Database, accountId: AccountId): Promise<SubmissionLogin> {
  const password = await addKey(database, accountId, {
    scopes: ['messages:send', 'messages:send-content'],
  });
  return { user: accountId, password };
}

/** The letter of `deliver`, without its Message-ID, which differs for each message. */
async function composeSubmission(): Promise<string> {
  const letter = (await composeLetter()).replaceAll('\n', '\r\n');
  return letter.replace(/^Message-ID: .*\r\n(?:[ \t].*\r\n)*/im, '');
}

/** One side of a case over all rounds. */
class SubmissionTally {
  readonly #order: Omit<SubmissionOrder, 'seconds'>;
  readonly rates: number[] = [];
  readonly latencies = new LatencyHistogram();
  accepted = 0;

  constructor(order: Omit<SubmissionOrder, 'seconds'>) {
    this.#order = order;
  }

  /** @throws if a message was refused */
  async run(seconds: number, isMeasured: boolean): Promise<SubmissionReport> {
    const report = await runSubmissionLoad({ ...this.#order, seconds });
    if (Object.keys(report.codes).some((code) => code !== '250'))
      throw new Error(`not only 250: ${JSON.stringify(report.codes)}`);
    this.accepted += report.accepted;
    if (isMeasured) {
      this.rates.push(report.accepted / report.seconds);
      this.latencies.merge(report.latencies);
    }
    return report;
  }
}

async function measureBesidePostfix(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  const missing = await findMissingPostfix('postfix');
  if (missing !== undefined) {
    process.stderr.write(`submission skipped: ${missing}\n`);
    return [];
  }
  const processes = availableParallelism();
  await using ours = await openSubmission(options, { processes });
  await using postfix = await startPostfixSubmission(join(ours.folder, 'postfix'), ours.files);
  const message = await composeSubmission();
  const before = await countRows(ours.database, 'message');
  const cases = sessionCases.map((sessions) => ({
    sessions,
    uses: [] as ReturnType<typeof usePerRequest>[],
    own: new SubmissionTally({ sessions, message, port: ours.port, login: ours.login }),
    peer: new SubmissionTally({ sessions, message, port: postfix.port }),
  }));
  for (let round = -1; round < rounds; round += 1)
    for (const { own, peer, uses } of cases) {
      const length = round < 0 ? Math.min(2, seconds) : seconds;
      const measureOwn = async (): Promise<void> => {
        const { result, use } = await measureUse(ours.service.pids, () =>
          own.run(length, round >= 0),
        );
        if (round >= 0) uses.push(usePerRequest(use, result.accepted));
      };
      const measurePeer = () => peer.run(length, round >= 0);
      // They swap places, so that not always the same one starts with a busy disk.
      if (round % 2 === 0) await measureOwn();
      await measurePeer();
      if (round % 2 !== 0) await measureOwn();
    }
  const sum = (side: 'own' | 'peer') => cases.reduce((all, one) => all + one[side].accepted, 0);
  const stored = (await countRows(ours.database, 'message')) - before;
  if (stored !== sum('own')) throw new Error(`${sum('own')} accepted, ${stored} stored`);
  const held = await postfix.countStored();
  if (held !== sum('peer')) throw new Error(`Postfix: ${sum('peer')} accepted, ${held} stored`);
  return cases.map(({ sessions, own, peer, uses }) => {
    const other = peer.latencies.percentiles;
    const use = uses.toSorted((a, b) => a.service_us - b.service_us)[Math.floor(uses.length / 2)];
    return makeResult(
      'submission',
      { sessions, bytes: message.length, processes, seconds, rounds },
      {
        ...{ rate: median(own.rates), ceiling: median(peer.rates), ...own.latencies.percentiles },
        ...{ ceiling_p50_ms: other.p50_ms, ceiling_p99_ms: other.p99_ms, ...use },
      },
    );
  });
}

/** One session that submits a message every 50 ms, alone and beside attackers. */
async function measureBeside(
  options: BenchOptions,
  attack: (typeof submissionAttacks)[number],
): Promise<BenchResult> {
  const { seconds, rounds } = options;
  const processes = availableParallelism();
  await using scene = await openSubmission(options, { processes, accounts: 6 });
  const { port, login, logins } = scene;
  const message = await composeSubmission();
  const order = { sessions: 1, rate: politePerSecond, message, port, login };
  const [alone, among] = [new SubmissionTally(order), new SubmissionTally(order)];
  await alone.run(2, false);
  let held = 0;
  for (let round = 0; round < rounds; round += 1) {
    await alone.run(seconds, true);
    const attackers = { attack, port, logins: logins.slice(1), seconds: leadSeconds + seconds };
    const attacking = runSubmissionAttack(attackers);
    await delay(leadSeconds * 1_000);
    await among.run(seconds, true);
    held = Math.max(held, (await attacking).open);
  }
  const [own, other] = [among.latencies.percentiles, alone.latencies.percentiles];
  const added = own.p99_ms - other.p99_ms;
  const params = { attack, held, added_p99_ms: Math.round(added * 10) / 10, seconds, rounds };
  const percentiles = { ceiling_p50_ms: other.p50_ms, ceiling_p99_ms: other.p99_ms, ...own };
  const rates = { rate: median(among.rates), ceiling: politePerSecond };
  return makeResult(
    'submission-beside',
    { ...params, limit_ms: addedLimitMs },
    {
      ...rates,
      ...percentiles,
    },
  );
}

/** Seconds that the attack begins before the messages, so that its sessions are open. */
const leadSeconds = 15;

/** Memory that a process holds for idle sessions with TLS and a login. */
async function measureIdleSessions(options: BenchOptions): Promise<BenchResult> {
  const accounts = idleSessions / sessionsPerAccount;
  await using scene = await openSubmission(options, { processes: 1, accounts });
  const { port, logins, service } = scene;
  const resident = (): number => {
    const sizes = readResident(processTree(service.pid));
    return [...sizes.values()].reduce((sum, size) => sum + size, 0);
  };
  const openOne = async (place: number): Promise<BenchSmtpSession> => {
    const login = logins[Math.floor(place / sessionsPerAccount)];
    const localAddress = `127.67.${1 + Math.floor(place / sessionsPerAccount)}.1`;
    const session = await BenchSmtpSession.open({ port, localAddress, timeoutMs: 0 });
    const code = await session.login(login?.user ?? '', login?.password ?? '');
    if (code !== 235) throw new Error(`the login of session ${place} got ${code}`);
    return session;
  };
  /** Opens sessions, as many at a time as an account can have. */
  const hold = async (count: number): Promise<BenchSmtpSession[]> => {
    const sessions: BenchSmtpSession[] = [];
    while (sessions.length < count) {
      const length = Math.min(sessionsPerAccount, count - sessions.length);
      const places = Array.from({ length }, (_, index) => sessions.length + index);
      sessions.push(...(await Promise.all(places.map(openOne))));
    }
    return sessions;
  };
  for (const session of await hold(1)) session.close();
  const before = resident();
  const sessions = await hold(idleSessions);
  await delay(settleMs);
  const held = resident() - before;
  const lost = sessions.filter(({ isLost }) => isLost).length;
  if (lost > 0) throw new Error(`${lost} of ${idleSessions} idle sessions were closed`);
  for (const session of sessions) session.close();
  const params = {
    sessions: idleSessions,
    held_mib: Math.round(held),
    limit_mib: idleLimitMib,
    kib_per_session: Math.round((held * 1_024) / idleSessions),
  };
  return makeResult('submission-idle', params, { ratio: idleLimitMib / Math.max(held, 1) });
}

/** Gives the service time to collect the garbage of the handshakes. */
const settleMs = 2_000;
