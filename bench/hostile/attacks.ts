import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '../../src/accounts/access/api-key.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { distinctBody } from '../bench-account.ts';
import { answerOrder, runOrder } from '../child-program.ts';
import { type ClientRequest, type HttpClient, openClient } from '../http-client.ts';
import type { AttackTarget } from './bench-hostile.ts';

/** Prepares one client. @returns one round, which resolves with a status */
type HostileAttack = (
  target: AttackTarget,
  ask: HttpClient,
  address: string,
) => () => Promise<number>;

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Headers of someone who is signed in to the console. */
function signedIn({ port }: AttackTarget, cookie: string): Record<string, string> {
  return { ...json, cookie, origin: `http://127.0.0.1:${port}`, 'x-signalpost-request': '1' };
}

/** @param make a request for each round, from 1 */
function repeat(make: (target: AttackTarget) => (round: number) => ClientRequest): HostileAttack {
  return (target, ask) => {
    const next = make(target);
    let round = 0;
    return async () => (await ask(next(++round))).status;
  };
}

/** @param requests sent in turn */
function alternate(make: (target: AttackTarget) => readonly ClientRequest[]): HostileAttack {
  return repeat((target) => {
    const requests = make(target);
    return (round) => requests[round % requests.length] ?? { path: '/' };
  });
}

/** Networks of one attacker who has many. */
const networksPerClient = 10;

/** An address of an attacker: 127.66.N.1, whose others are in 127.67 and on. */
function addressIn(localAddress: string, network: number): string {
  return localAddress.replace('.66.', `.${66 + network}.`);
}

/** @returns a round that holds connections until the server has closed each, and resolves with 0 */
function hold(
  count: number,
  port: 'port' | 'bouncePort',
  use: (socket: Socket, target: AttackTarget) => void,
  networks = 1,
): HostileAttack {
  return (target, _ask, address) => async () => {
    const closed = Array.from({ length: count }, (_, at) => {
      const localAddress = addressIn(address, at % networks);
      const socket = connect({ host: '127.0.0.1', port: target[port], localAddress });
      socket.on('error', () => undefined);
      socket.once('connect', () => use(socket, target));
      return new Promise<void>((resolve) => socket.once('close', () => resolve()));
    });
    await Promise.all(closed);
    return 0;
  };
}

/** Signs in with wrong passwords. @param emailOf the person of each round */
function guess(
  { port }: AttackTarget,
  ask: HttpClient,
  emailOf: (round: number) => string,
): () => Promise<number> {
  let visit: { readonly cookie: string; readonly csrf: string } | undefined;
  let round = 0;
  return async () => {
    if (visit === undefined) {
      const { status, cookie, text } = await ask({ method: 'GET', path: '/sign-in' });
      if (status !== 200) return status;
      visit = { cookie, csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' };
    }
    const { cookie, csrf } = visit;
    const body = new URLSearchParams({ csrf, email: emailOf(++round), password: 'not this one' });
    const headers = { ...form, cookie, origin: `http://127.0.0.1:${port}` };
    return (await ask({ path: '/sign-in', headers, body: body.toString() })).status;
  };
}

/** `count` values with different names. */
function fields(count: number, value: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`Field ${at}`, value]));
}

/** As slow to compile as the size limits allow. */
const slowHtml = `<style>${Array.from({ length: 8_000 }, (_, at) => `.a${at} p b{color:red}`).join('')}</style>${'<p class="a">x</p>'.repeat(15_000)}`;
const trickleHead =
  'POST /token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 4000\r\n\r\n';
let slowTemplates = 0;
/** A report of 1 MiB with as many parts, parameters and encoded words as fit. */
const report = [
  'Content-Type: multipart/report; boundary=b',
  `Subject: ${'=?utf-8?Q?=41?= '.repeat(2_000)}`,
  '',
  ...Array.from({ length: 9_000 }, (_, at) =>
    ['--b', `Content-Type: text/plain; a*0=${at}; a*1="${'('.repeat(60)}"`, '', 'x'].join('\r\n'),
  ),
  '--b--',
  '.',
].join('\r\n');

/** `docs/benchmarks-method.md` describes them. */
export const attacks: Readonly<Record<string, HostileAttack>> = {
  previews: alternate((target) => [
    {
      path: `/manage/v1/accounts/${target.accountId}/templates/t-sixty/preview`,
      headers: signedIn(target, target.viewerCookie),
      // Escaping makes each apostrophe five characters.
      body: JSON.stringify({ values: fields(60, "'".repeat(4_200)) }),
    },
  ]),
  publishes: (target, ask) => {
    slowTemplates += 1;
    const path = `/manage/v1/accounts/${target.accountId}/templates/t-slow-${slowTemplates}`;
    const headers = signedIn(target, target.ownerCookie);
    const change = (method: string, suffix: string, body: object) =>
      ask({ method, path: path + suffix, headers, body: JSON.stringify(body) });
    let round = 0;
    return async () => {
      round += 1;
      if (round === 1) await change('PUT', '', { name: 'Slow' });
      await change('PUT', '/draft', { subject: `Subject ${round}`, html: slowHtml });
      return (await change('POST', '/publish', {})).status;
    };
  },
  scopes: alternate((target) =>
    [80_000, 1_900].map((count) => ({
      path: `/manage/v1/accounts/${target.accountId}/keys`,
      headers: signedIn(target, target.ownerCookie),
      body: JSON.stringify({ name: 'x', scopes: Object.keys(fields(count, '')) }),
    })),
  ),
  bodies: alternate(() => {
    const body = Buffer.alloc(4 * 1_048_576, 'x');
    const intakes = ['ses', 'postmark', 'mailgun', 'sendgrid'].map((name) => `/intake/${name}`);
    const paths = ['/manage/v1/set-up', '/token', ...intakes];
    return paths.map((path) => ({ path, headers: path === '/token' ? form : json, body }));
  }),
  'large-sends': alternate(({ accountId, apiKey }) => {
    const repeated = { Link: 'https://shop.test/', Notes: 'n'.repeat(250_000) };
    const values = { 't-many': fields(240, 'n'.repeat(1_000)), 't-links': repeated };
    return Object.entries(values).map(([template, personalizationDataMap]) => ({
      path: `/ete/v1/email/${accountId}/${template}`,
      headers: { ...json, authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({
        envelope: { toAddress: 'reader@example.test' },
        content: { personalizationDataMap },
        actions: { trackOpens: true, trackClicks: true },
      }),
    }));
  }),
  opens: alternate(({ imagePath: path }) => {
    const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/145.0';
    return [{ method: 'GET', path, headers: { 'user-agent': agent } }];
  }),
  'sign-in': (target, ask) => guess(target, ask, () => target.victimEmail),
  passwords: (target, _ask, address) => {
    const visitors = Array.from({ length: networksPerClient }, (_, network) => {
      const localAddress = addressIn(address, network);
      const emailOf = (round: number) => `person${round}@${localAddress}.test`;
      return guess(target, openClient(target.port, { localAddress }), emailOf);
    });
    // All at once, as a flood would.
    return async () => {
      const statuses = await Promise.all(visitors.map((strike) => strike()));
      return Math.max(...statuses);
    };
  },
  token: repeat(({ victimEmail, clientId, clientSecret }) => (round) => {
    const body = new URLSearchParams({
      grant_type: 'password',
      username: victimEmail,
      password: `guess ${round}`,
      client_id: clientId,
      client_secret: round % 2 === 0 ? clientSecret : 'guess',
    });
    return { path: '/token', headers: form, body: body.toString() };
  }),
  forgeries: repeat(({ victimId }) => {
    const body = JSON.stringify({ x: 'x'.repeat(250_000) });
    const path = `/ete/v1/email/${victimId}/t-0001`;
    return (round) => {
      const token = `spa_${randomBytes(32).toString('base64url')}`;
      const forged = round % 2 === 0 ? generateApiKey(victimId as AccountId).text : token;
      return { path, headers: { ...json, authorization: `Bearer ${forged}` }, body };
    };
  }),
  trickles: hold(100, 'port', (socket) => {
    socket.write(trickleHead);
    const timer = setInterval(() => socket.write('x'), 100);
    socket.once('close', () => clearInterval(timer));
    socket.resume();
  }),
  unfinished: hold(
    100,
    'port',
    (socket) => {
      socket.write(trickleHead);
      socket.write('x'.repeat(3_900));
      socket.resume();
    },
    networksPerClient,
  ),
  idle: hold(400, 'port', (socket) => socket.resume()),
  noops: hold(20, 'bouncePort', (socket) => {
    socket.write('EHLO there\r\n');
    socket.on('data', () => socket.write('NOOP\r\n'));
  }),
  bounces: hold(
    20,
    'bouncePort',
    (socket) => {
      socket.resume();
      socket.write('EHLO there\r\n');
      socket.once('data', () => socket.write('MAIL FROM:<>\r\n'));
    },
    networksPerClient,
  ),
  reports: hold(
    2,
    'bouncePort',
    (socket, { returnPath }) => {
      const commands = ['EHLO there', 'MAIL FROM:<>', `RCPT TO:<${returnPath}>`, 'DATA', report];
      socket.on('data', () => {
        const command = commands.shift();
        if (command === undefined) socket.end();
        else socket.write(`${command}\r\n`);
      });
    },
    networksPerClient,
  ),
  'silent-webhooks': alternate(({ accountId, apiKey }) => [
    {
      path: `/ete/v1/email/${accountId}/t-0001`,
      headers: { ...json, authorization: `Bearer ${apiKey}` },
      body: distinctBody(0),
    },
  ]),
};

interface AttackOrder {
  readonly target: AttackTarget;
  readonly clients: number;
  readonly seconds: number;
  /** Assigned to the clients in turn. */
  readonly names: readonly string[];
}

/** Runs the attackers in a separate process. @returns rounds by status, which is 0 for closed connections */
export function runAttackers(order: AttackOrder): Promise<Readonly<Record<string, number>>> {
  return runOrder(import.meta.filename, order);
}

/** Each client has its own network, so limits per network apply to it alone. */
async function attackFor({ target, clients, names, seconds }: AttackOrder) {
  const statuses: Record<string, number> = {};
  for (let number = 0; number < clients; number += 1) {
    const attack = attacks[names[number % names.length] ?? ''];
    if (attack === undefined) throw new Error(`an attack is unknown: ${names}`);
    const localAddress = `127.66.${number + 1}.1`;
    const strike = attack(target, openClient(target.port, { localAddress }), localAddress);
    void (async () => {
      for (;;) {
        const status = await strike();
        statuses[status] = (statuses[status] ?? 0) + 1;
        // Don't spin while connections can't be opened.
        if (status === 0) await delay(10);
      }
    })();
  }
  await delay(seconds * 1_000);
  return statuses;
}

if (import.meta.main) await answerOrder(attackFor);
