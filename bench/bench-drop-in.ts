import { addKey } from '../test/support/api-key.ts';
import {
  type Bench,
  distinctRequests,
  distinctValues,
  openBench,
  openLoad,
  wireRequest,
} from './bench-account.ts';
import { countRows } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { compare, LoadTally, loadConnections, takeTurns } from './tally.ts';

interface Call {
  readonly case: string;
  /** Default: the contract's send without a template. */
  readonly isStored?: true;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (number: number) => string;
  readonly status?: string;
}

const json = { 'Content-Type': 'application/json' };
const from = 'orders@shop.test';
const subject = 'Your order';
const to = (number: number) => `reader${number}@example.test`;

/** As the template makes it of the values. */
function htmlOf(number: number): string {
  const rows = Object.entries(distinctValues(number));
  return `<table>${rows.map(([name, value]) => `<tr><td>${name}</td><td>${value}</td></tr>`).join('')}</table>`;
}

/** The contract's send without a template. */
function contentCall(accountId: string, key: string): Call {
  return {
    case: 'Without a template',
    isStored: true,
    path: `/ete/v1/email/${accountId}`,
    headers: { ...json, Authorization: `Bearer ${key}` },
    body: (number) =>
      JSON.stringify({
        envelope: { toAddress: to(number), fromAddress: from },
        content: { subjectLine: subject, html: htmlOf(number), literal: true },
        metadata: {},
        actions: {},
      }),
  };
}

/** The same message, as each API takes it. */
function providerCalls(key: string): readonly Call[] {
  const bearer = { ...json, Authorization: `Bearer ${key}` };
  const postmark = { ...json, 'X-Postmark-Server-Token': key };
  const basic = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
  return [
    {
      case: 'Resend',
      path: '/resend/emails',
      headers: bearer,
      body: (number) =>
        JSON.stringify({ from, to: to(number), subject, html: htmlOf(number), text: '' }),
    },
    {
      case: 'Resend, a template',
      isStored: true,
      path: '/resend/emails',
      headers: bearer,
      body: (number) =>
        JSON.stringify({
          to: to(number),
          template: { id: 't-0001', variables: distinctValues(number) },
        }),
    },
    {
      case: 'Postmark',
      path: '/postmark/email',
      headers: postmark,
      body: (number) =>
        JSON.stringify({ From: from, To: to(number), Subject: subject, HtmlBody: htmlOf(number) }),
    },
    {
      case: 'Postmark, a template',
      isStored: true,
      path: '/postmark/email/withTemplate',
      headers: postmark,
      body: (number) =>
        JSON.stringify({
          To: to(number),
          TemplateAlias: 't-0001',
          TemplateModel: distinctValues(number),
        }),
    },
    {
      case: 'SendGrid',
      path: '/sendgrid/v3/mail/send',
      headers: bearer,
      status: '202',
      body: (number) =>
        JSON.stringify({
          personalizations: [{ to: [{ email: to(number) }] }],
          from: { email: from },
          subject,
          content: [{ type: 'text/html', value: htmlOf(number) }],
        }),
    },
    {
      case: 'Mailgun',
      path: '/mailgun/v3/shop.test/messages',
      headers: { Authorization: basic, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: (number) =>
        String(new URLSearchParams({ from, to: to(number), subject, html: htmlOf(number) })),
    },
  ];
}

function loadOf({ service }: Bench, { path, headers, body, status }: Call): LoadTally {
  const requests = Array.from({ length: distinctRequests }, (_, number) => {
    const text = body(number);
    const length = String(Buffer.byteLength(text));
    return wireRequest(`POST ${path}`, { ...headers, 'Content-Length': length }, text);
  });
  return new LoadTally(service, { requests }, status);
}

/** Sends through the APIs of providers, alternating with the contract's sends of the same messages. */
export async function benchDropIn(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await openBench({ ...options, processes: 1 });
  const key = await addKey(bench.database, bench.shop.id);
  const stored = openLoad(bench, { token: key });
  const open = (call: Call) => ({ call, load: loadOf(bench, call) });
  const content = open(contentCall(bench.shop.id, key));
  const sides = [content, ...providerCalls(key).map(open)];
  const loads = [stored, ...sides.map(({ load }) => load)];
  await takeTurns(loads, options);
  const accepted = loads.reduce((sum, { totalAnswered }) => sum + totalAnswered, 0);
  const found = await countRows(bench.database, 'message');
  if (found !== accepted) throw new Error(`${accepted} accepted, ${found} stored`);
  return sides.map(({ call, load }) => {
    const params = { case: call.case, connections: loadConnections, seconds, rounds };
    return makeResult('drop-in', params, compare(load, call.isStored ? stored : content.load));
  });
}
