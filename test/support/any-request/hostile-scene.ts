import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Database } from '../../../src/base/database/open-database.ts';
import { accountTables } from '../account-first.ts';
import { addKey, addSigningKey } from '../api-key.ts';
import { type ManagedShop, openManagedShop } from '../management-client.ts';
import { behindProxy } from '../raw-connection.ts';
import { type Running, runWithHeap } from '../run-signalpost.ts';
import { SendClient } from '../send-client.ts';
import { serviceTokens } from '../service-tokens.ts';
import { SessionWorld } from '../session-world.ts';
import { getToken } from '../shop.ts';
import { signIn } from '../sign-in.ts';
import { signRequest } from '../sign-request.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createTestDatabase } from '../test-database.ts';
import { type TestService, testKey } from '../test-service.ts';
import { waitFor } from '../wait-for.ts';
import type { Names } from './any-path.ts';
import type { AnyRequest } from './any-request.ts';

/** The heap limit of the process, and the limit of its total memory: threads and buffers aren't on the heap. */
const heapMebibytes = 300;
const maxResidentMebibytes = 1_200;

export type CallerName = 'stranger' | 'viewer' | 'key' | 'token';

/** A service in a separate process, an account under attack, and its attackers. */
export interface HostileScene {
  readonly url: string;
  readonly names: Names;
  /** The header fields of a caller. No caller may change anything in the account. */
  callerHeaders(
    name: CallerName,
    sent: Pick<AnyRequest, 'method' | 'target' | 'body'>,
  ): Readonly<Record<string, string>>;
  /** Signs in again and gets new tokens, for runs that outlast them. */
  renewCallers(): Promise<void>;
  /** Row count and digest of each table of the account. */
  readAccount(): Promise<Readonly<Record<string, string>>>;
  /** Throws if the service died, isn't ready, can't send or uses too much memory. */
  requireHealth(): Promise<void>;
  residentMebibytes(): number;
  /** The distinct error stacks in the log. */
  loggedErrors(): readonly string[];
  /** Stops the service; resolves with its exit code. */
  stop(): Promise<number | string>;
}

const victim = '46100';
const other = '46200';

export async function openHostileScene(): Promise<HostileScene> {
  const { database, url } = await createTestDatabase();
  const node = startNode(url);
  const [, address = ''] = await node.printed(/running at (http:\/\/\S+)/);
  const service = { url: address } as TestService;
  const { owner, path } = await openManagedShop(database, service, victim);
  const own = await openManagedShop(database, service, other);
  const viewer = await new SessionWorld(database, victim).addPerson({ accounts: [] });
  await sql`insert into membership (account_id, person_id, role)
    values (${victim}, ${viewer.id}, 'viewer')`.execute(database.kysely);
  const key = await addKey(database, own.shop.id);
  const signing = await addSigningKey(database, testKey, own.shop.id);
  await fill(owner, path);
  await fill(own.owner, own.path);
  // Not in the victim: the service checks domains in the background, which changes rows of their account.
  await own.owner.put(`${own.path}/domains/shop.test`, {});
  const callers = new Map<CallerName, Readonly<Record<string, string>>>([
    ['stranger', {}],
    ['key', { authorization: `Bearer ${key}`, 'x-postmark-server-token': key }],
  ]);
  const renewCallers = async (): Promise<void> => {
    callers.set('viewer', {
      cookie: await signIn(service, viewer.email),
      origin: address,
      'x-signalpost-request': '1',
    });
    callers.set('token', { authorization: `Bearer ${await getToken(service, own.shop)}` });
  };
  await renewCallers();
  // The final proof that the service works: a separate account that isn't attacked can send.
  const bystander = await openManagedShop(database, service, '46300');
  const client = new SendClient(service, await addKey(database, bystander.shop.id));
  const residentMebibytes = () => readResident(node);
  return {
    url: address,
    names: await readNames(database),
    callerHeaders: (name, { method, target, body }) => {
      const url = address + target;
      if (name === 'key' && target.startsWith('/mailgun'))
        return { authorization: `Basic ${btoa(`api:${key}`)}` };
      if (name !== 'key' || !target.startsWith('/ses') || !URL.canParse(url))
        return callers.get(name) ?? {};
      const { host: _, ...signed } = signRequest(
        { method, url, body: body?.bytes() ?? '' },
        signing,
      );
      return signed;
    },
    renewCallers,
    readAccount: () => readAccount(database),
    async requireHealth() {
      if (node.child.exitCode !== null)
        throw new Error(`the service exited: ${node.output.stderr}`);
      await waitFor('the service to be ready', async () => (await fetch(`${address}/readyz`)).ok);
      const { status, text } = await client.send({ account: '46300' });
      if (status !== 200) throw new Error(`a valid message got ${status} ${text}`);
      const resident = residentMebibytes();
      if (resident > maxResidentMebibytes) throw new Error(`the service uses ${resident} MiB`);
    },
    residentMebibytes,
    loggedErrors: () => findErrors(node.output.stdout + node.output.stderr),
    stop() {
      node.child.kill('SIGTERM');
      return node.exit;
    },
  };
}

function startNode(databaseUrl: string): Running {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return runWithHeap(heapMebibytes, ['serve', '--processes', '1'], {
    DATABASE_URL: databaseUrl,
    DATA_DIR: temporaryFolder(),
    PORT: '0',
    LOG_LEVEL: 'error',
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    SYSTEM_MAIL_FROM: 'service@signalpost.test',
    DNS_SERVERS: '127.0.0.1:9',
    INTAKE_SNS_TOPICS: 'arn:aws:sns:eu-west-1:1:reports',
    INTAKE_POSTMARK_PASSWORD: 'secret',
    INTAKE_MAILGUN_KEY: 'mailgun key',
    INTAKE_SENDGRID_KEY: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    ...behindProxy,
    ...serviceTokens,
  });
}

/** Gives an account one resource of each kind that requests can name. */
async function fill(owner: ManagedShop['owner'], path: string): Promise<void> {
  const put = async (below: string, body: object): Promise<void> => {
    const { status, text } = await owner.put(`${path}${below}`, body);
    assert.ok(status < 300, `${below}: ${text}`);
  };
  await put('/lists/l-1', { name: 'People' });
  await put('/lists/l-1/contacts/ann@shop.test', { fields: { 'First Name': 'Ann' } });
  await put('/suppressions/bob@shop.test', {});
  await put('/templates/t-draft', { name: 'Draft' });
  await put('/templates/t-draft/draft', { subject: 'Hi', html: '<p>Hi {{First Name}}</p>' });
}

async function readNames(database: Database): Promise<Names> {
  const { rows } = await sql<{ email: string }>`select email from person limit 5`.execute(
    database.kysely,
  );
  const people = rows.map(({ email }) => email);
  return {
    accountId: [victim, other, other],
    address: ['orders@shop.test', 'bob@shop.test', ...people],
    clientId: ['client2', 'client4'],
    destination: ['*', 'example.test'],
    domain: ['shop.test', 'other.test'],
    email: ['ann@shop.test', ...people],
    listId: ['l-1'],
    receiver: ['example.test'],
    templateId: ['t-0001', 't-draft'],
    version: ['1', '2'],
    name: ['not-found', 'busy'],
  };
}

/**
 * Tables that change by themselves: the audit log records refused attempts of strangers with a client ID of the account, and the
 * service's own mail about the sign-ins of the scene leaves.
 */
const changing = ['audit_event', 'system_mail'];

/** The state of the account, by table. */
async function readAccount(database: Database): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const table of accountTables.filter((name) => !changing.includes(name))) {
    const { rows } = await sql<{ state: string }>`
      select count(*) || ' ' || coalesce(md5(string_agg(row, e'\n' order by row)), '') as state
      from (select ${sql.ref(table)}::text as row from ${sql.table(table)}
        where account_id = ${victim}) as rows`.execute(database.kysely);
    found[table] = rows[0]?.state ?? '';
  }
  return found;
}

/** From the kernel; 0 where it doesn't report it. */
function readResident({ child }: Running): number {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
  } catch {
    return 0;
  }
}

function findErrors(log: string): string[] {
  const stacks = log
    .split('\n')
    .filter((line) => line.includes('"stack"'))
    .map((line) => /"stack":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line);
  return [...new Set(stacks)];
}
