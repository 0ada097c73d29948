import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { type MessageId, newMessageId, type TemplateId } from '../../../src/base/values/ids.ts';
import { reportColumns } from '../../../src/content/message/event-kinds.ts';
import type { StoredMessageStatus } from '../../../src/content/message/message-status-store.ts';
import { EventFeed } from '../../../src/outcomes/feed/event-feed.ts';
import { explainMessage } from '../../../src/outcomes/report/explain-message.ts';
import { findMessages } from '../../../src/outcomes/report/find-messages-store.ts';
import { sumHistograms } from '../../../src/outcomes/report/histogram-store.ts';
import { addHistograms, latencyOf } from '../../../src/outcomes/report/latency.ts';
import { readReport } from '../../../src/outcomes/report/read-report-store.ts';
import { readSubjects } from '../../../src/outcomes/report/read-subjects-store.ts';
import { reportCsv } from '../../../src/outcomes/report/report-csv.ts';
import {
  parseTimeZone,
  type ReportQuery,
  reportGroups,
} from '../../../src/outcomes/report/report-query.ts';
import { createReportUpkeep } from '../../../src/outcomes/report/report-upkeep.ts';
import { rebuildReport, rollUp } from '../../../src/outcomes/report/roll-up-store.ts';
import { writeSearchRows } from '../../../src/outcomes/report/search-rows-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';

const world = await DeliveryWorld.create();
const { pool, kysely } = world.database;
// Rows go where a vacuum made room, whatever their order.
await pool.query('alter table report_sum set (autovacuum_enabled = false)');
const feed = new EventFeed({
  database: world.database,
  log: world.log,
  followers: [writeSearchRows, rollUp],
});
const base = Date.parse('2026-11-20T22:40:00Z');
const all = {
  from: new Date('2026-01-01'),
  until: new Date('2027-01-01'),
  timeZone: 'UTC',
} as const;

interface Draft {
  readonly variant?: string;
  readonly templateId?: string;
  readonly tag?: string;
  readonly to?: string;
  readonly cc?: readonly string[];
  readonly at?: number;
}

/** A message as if it had been accepted at a given time. */
async function accept(draft: Draft = {}): Promise<string> {
  const id = newMessageId();
  const at = new Date(draft.at ?? base);
  const content = {
    to: draft.to ?? 'ann@people.test',
    ...(draft.cc && { cc: draft.cc }),
    from: { address: 'orders@shop.test' },
    ...(draft.variant && { locale: `${draft.variant}-x-own`, variant: draft.variant }),
    values: {},
  };
  await pool.query(
    `insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
       track_clicks, deliver_when_delayed, tag, external_id, client_id, accepted_at, state_at, content)
     values ($1, $2, 90, $7, 1, false, true, true, true, $3, $4, 'c1', $5, $5, $6)`,
    [account, id, draft.tag ?? null, `order-${id}`, at, content, draft.templateId ?? 't1'],
  );
  return id;
}

async function addEventTo(
  id: string,
  kind: string,
  after: number,
  detail: unknown = {},
  recipient: number | null = 0,
) {
  await pool.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
     values ($1, $2, 90, gen_random_uuid(), $3, $4, $5, $6)`,
    [account, id, new Date(base + after), kind, recipient, JSON.stringify(detail)],
  );
}

test('totals count recipients; unique opens and clicks count once per message', async () => {
  const one = await accept({ tag: 'spring', cc: ['boss@Other.test'] });
  const two = await accept({ to: 'Gone@people.test' });
  await addEventTo(one, 'delivered', 1_000);
  await addEventTo(one, 'delivered', 2_000, {}, 1);
  await addEventTo(two, 'bounced', 1_000, { cause: 'no-mailbox' });
  await feed.catchUp();
  for (let time = 0; time < 3; time += 1)
    await addEventTo(one, 'opened', 60_000 + time, { class: 'person' }, null);
  await addEventTo(one, 'opened', 61_000, { class: 'prefetch' }, null);
  await feed.catchUp();
  await addEventTo(one, 'opened', 62_000, { class: 'person' }, null);
  await addEventTo(one, 'clicked', 62_000, { class: 'scanner', link: 0 }, null);
  await feed.catchUp();
  const [row] = await readReport(kysely, account, { ...all, group: 'none' });
  const counts = Object.fromEntries(
    Object.entries(row?.counts ?? {}).filter(([, count]) => count > 0),
  );
  assert.deepEqual(counts, {
    accepted: 3,
    delivered: 2,
    bounced_hard: 1,
    opened_people: 4,
    opened_people_unique: 1,
    opened_machines: 1,
    opened_machines_unique: 1,
    clicked_machines: 1,
    clicked_machines_unique: 1,
  });
  const latency = row?.latency?.p50 ?? 0;
  assert.ok(latency > 950 && latency < 1_050, String(latency));
  const destinations = await readReport(kysely, account, { ...all, group: 'destination' });
  assert.deepEqual(
    destinations.map(({ key, counts: found }) => [
      key,
      found.accepted,
      found.delivered,
      found.bounced_hard,
    ]),
    [
      ['other.test', 1, 1, 0],
      ['people.test', 2, 1, 1],
    ],
  );
  const tagged = await readReport(kysely, account, { ...all, group: 'tag', tag: 'spring' });
  assert.deepEqual(
    tagged.map(({ key, counts: found }) => [key, found.accepted]),
    [['spring', 2]],
  );
});

test('days follow the time zone, whatever its offset', async () => {
  const days = async (timeZone: string) =>
    (await readReport(kysely, account, { ...all, group: 'day', timeZone })).map(
      ({ key, counts }) => [key, counts.accepted],
    );
  assert.deepEqual(await days('UTC'), [['2026-11-20T00:00', 3]]);
  assert.deepEqual(await days('Europe/Berlin'), [['2026-11-20T00:00', 3]]);
  assert.deepEqual(await days('Asia/Kathmandu'), [['2026-11-21T00:00', 3]]);
  assert.deepEqual(
    (await readReport(kysely, account, { ...all, group: 'hour', timeZone: 'Asia/Kathmandu' })).map(
      ({ key }) => key,
    ),
    ['2026-11-21T04:00'],
  );
  for (const none of ["Europe/Berlin'; drop table account", 'Moon/Base', '+01:00', 'SystemV/AST4'])
    assert.equal(parseTimeZone(none), undefined, none);
});

test('an hour that clocks show twice has two rows, in order, with their offsets', async () => {
  const night = Date.parse('2026-10-25T00:00:00Z');
  for (const minutes of [-30, 10, 50, 70, 130]) await accept({ at: night + minutes * 60_000 });
  await feed.catchUp();
  const hours = async (timeZone: string) => {
    const [from, until] = [new Date('2026-10-01'), new Date('2026-11-01')];
    const rows = await readReport(kysely, account, { from, until, timeZone, group: 'hour' });
    return rows.map(({ key, counts }) => [key, counts.accepted]);
  };
  assert.deepEqual(await hours('Europe/Berlin'), [
    ['2026-10-25T01:00', 1],
    ['2026-10-25T02:00+02:00', 2],
    ['2026-10-25T02:00+01:00', 1],
    ['2026-10-25T03:00', 1],
  ]);
  assert.deepEqual(await hours('UTC'), [
    ['2026-10-24T23:00', 1],
    ['2026-10-25T00:00', 2],
    ['2026-10-25T01:00', 1],
    ['2026-10-25T02:00', 1],
  ]);
});

async function readTotals() {
  const tables = ['total', 'locale', 'destination', 'latency', 'sum', 'latency_sum'];
  const found = tables.map(async (name) => {
    const { rows } = await pool.query(`select t::text as row from report_${name} t order by 1`);
    return rows.map(({ row }) => row);
  });
  return Promise.all(found);
}

test('the database counts in the time zone that the browser names', async () => {
  for (const [abbreviation, place] of [
    ['CET', 'Europe/Brussels'],
    ['IST', 'Asia/Calcutta'],
    ['AET', 'Australia/Sydney'],
    ['Zulu', 'UTC'],
  ] as const)
    assert.equal(parseTimeZone(abbreviation), place);
  const links = ['UTC', 'asia/kolkata', 'America/Argentina/Ushuaia', 'Etc/GMT-14'];
  for (const name of [...Intl.supportedValuesOf('timeZone'), ...links]) {
    const timeZone = parseTimeZone(name);
    assert.equal(timeZone, name);
    await readReport(kysely, account, { ...all, group: 'day', timeZone });
  }
});

test('a rebuild from messages and events gives the same counts', async () => {
  const kinds = [
    'delivered',
    'deferred',
    'bounced',
    'opened',
    'clicked',
    'complained',
    'unsubscribed',
    'expired',
  ];
  const classes = ['person', 'prefetch', 'scanner'];
  const variants = [{}, { variant: 'de' }, { variant: 'pt-BR' }, {}];
  let seed = 7;
  const next = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * most);
  };
  const ids: string[] = [];
  for (let count = 0; count < 300; count += 1) {
    if (ids.length < 40 || next(4) === 0)
      ids.push(
        await accept({
          at: base + next(9) * 1_000_000,
          tag: `tag${next(3)}`,
          to: `x@d${next(4)}.test`,
          templateId: `t${1 + next(2)}`,
          ...variants[next(4)],
        }),
      );
    const kind = kinds[next(kinds.length)] ?? 'delivered';
    const isEngagement = kind === 'opened' || kind === 'clicked';
    const detail = isEngagement
      ? { class: classes[next(3)] }
      : { cause: next(2) === 0 ? 'no-mailbox' : 'content' };
    await addEventTo(
      ids[next(ids.length)] ?? '',
      kind,
      next(9) * 1_000_000,
      detail,
      isEngagement ? null : 0,
    );
    if (count % 37 === 0) await feed.catchUp();
  }
  await feed.catchUp();
  const before = await readTotals();
  for (const rows of before) assert.ok(rows.length > 3);
  await rebuildReport(kysely, account, all.from, all.until);
  assert.deepEqual(await readTotals(), before);
});

test('rows of past days are stored in report order without changing the counts', async () => {
  const before = await readTotals();
  const end = Date.parse('2026-11-22T00:00Z');
  const runUpkeep = (now: number) =>
    createReportUpkeep({ ...world, clock: { now: () => now } }).run();
  const orderedUntil = async () => {
    const { rows } = await pool.query<{ until: Date }>('select until from report_ordered');
    return rows.map(({ until }) => until.getTime());
  };
  await runUpkeep(end);
  const day = 24 * 60 * 60 * 1_000;
  assert.deepEqual(await orderedUntil(), [end - day]);
  await runUpkeep(end + 2 * 60 * 60 * 1_000);
  assert.deepEqual(await orderedUntil(), [end]);
  assert.deepEqual(await readTotals(), before);
  const rowsInOrder = async (order: string) => {
    const { rows } = await pool.query<{ row: string }>(
      `select t::text as row from report_sum t
       where begins >= '2026-11-21Z' and begins < '2026-11-22Z' order by ${order}`,
    );
    return rows.map(({ row }) => row);
  };
  assert.deepEqual(
    await rowsInOrder('t.ctid'),
    await rowsInOrder('span, sum_of, key, tag, begins'),
  );
  await rebuildReport(kysely, account, new Date(end - day), new Date(end));
  assert.deepEqual(await orderedUntil(), [end - day]);
  assert.deepEqual(await readTotals(), before);
});

test('concatenated histograms equal their sum, in code and in the database', async () => {
  const histogram = fc
    .uniqueArray(
      fc.tuple(fc.integer({ min: 0, max: 32_000 }), fc.integer({ min: 1, max: 2 ** 29 })),
      {
        selector: ([step]) => step,
        maxLength: 8,
      },
    )
    .map((steps) => steps.sort(([a], [b]) => a - b));
  const pack = (steps: readonly (readonly [number, number])[]) => {
    const bytes = Buffer.alloc(steps.length * 6);
    for (const [place, [step, count]] of steps.entries())
      bytes.writeUInt32BE(count, bytes.writeUInt16BE(step, place * 6));
    return bytes;
  };
  await fc.assert(
    fc.asyncProperty(histogram, histogram, async (one, other) => {
      const expected = new Map(one);
      for (const [step, count] of other) expected.set(step, (expected.get(step) ?? 0) + count);
      const sum = [...expected].sort(([a], [b]) => a - b);
      const both = Buffer.concat([pack(one), pack(other)]);
      assert.deepEqual(
        addHistograms(both).map(({ step, count }) => [step, count]),
        sum,
      );
      const { rows } = await sql<{ sum: Buffer | null }>`
        select ${sumHistograms(sql`${pack(one)}::bytea`, sql`${pack(other)}::bytea`)} as sum`.execute(
        kysely,
      );
      assert.deepEqual(rows[0]?.sum ?? Buffer.alloc(0), pack(sum));
    }),
  );
});

test('counts by locale equal a recount of messages and events', async () => {
  const { rows } = await pool.query(`
    select coalesce(m.content ->> 'variant', 'default') as key, m.template_id,
      count(*) filter (where e.kind is null)::int as accepted,
      count(*) filter (where e.kind = 'delivered')::int as delivered,
      count(*) filter (where e.kind = 'opened' and e.detail ->> 'class' = 'person')::int as opened
    from message m
    left join lateral (
      select null as kind, null::json as detail from generate_series(0, json_array_length(coalesce(m.content -> 'cc', '[]')))
      union all
      select kind, detail::json from message_event where message_id = m.id) as e on true
    group by 1, 2 order by 1`);
  const shown = async (query: Partial<ReportQuery>) =>
    (await readReport(kysely, account, { ...all, group: 'locale', ...query })).map(
      ({ key, counts }) => [key, counts.accepted, counts.delivered, counts.opened_people],
    );
  const figures = (given: typeof rows) =>
    given.map(({ key, accepted, delivered, opened }) => [key, accepted, delivered, opened]);
  for (const templateId of ['t1', 't2']) {
    const own = rows.filter((row) => row.template_id === templateId);
    assert.equal(own.length, 3);
    assert.deepEqual(await shown({ templateId }), figures(own));
    for (const row of own)
      assert.deepEqual(await shown({ templateId, locale: row.key }), figures([row]));
  }
  const german = await shown({ group: 'none', locale: 'de' });
  const sum = (name: string) =>
    rows.filter(({ key }) => key === 'de').reduce((total, row) => total + row[name], 0);
  assert.deepEqual(german, [['', sum('accepted'), sum('delivered'), sum('opened')]]);
});

test('a report of whole and partial days is the sum of its quarter hours', async () => {
  const quarter = 15 * 60 * 1_000;
  const start = Date.parse('2026-11-19T00:00Z');
  const filters = fc.record(
    {
      templateId: fc.constantFrom('t1', 't2'),
      tag: fc.constantFrom('tag0', 'tag1', 'spring', 'none'),
      senderDomain: fc.constantFrom('shop.test', 'other.test'),
    },
    { requiredKeys: [] },
  );
  const byLocale = fc.record(
    {
      templateId: fc.constantFrom('t1', 't2'),
      locale: fc.constantFrom('default', 'de', 'pt-BR', 'fr'),
    },
    { requiredKeys: [] },
  );
  const other = fc.record({ destinationDomain: fc.constantFrom('d0.test', 'people.test') });
  await fc.assert(
    fc.asyncProperty(
      fc.nat(400),
      fc.nat(400),
      fc.constantFrom(...reportGroups),
      fc.oneof(filters, byLocale, other),
      async (first, length, group, given) => {
        const telling = group === 'locale' || 'locale' in given;
        const others = ['tag', 'senderDomain', 'destinationDomain'].some((name) => name in given);
        if (telling && (others || ['tag', 'sender', 'destination'].includes(group))) return;
        const byDestination = group === 'destination' || 'destinationDomain' in given;
        if (byDestination && !['none', 'destination', 'day', 'hour'].includes(group)) return;
        const from = new Date(start + first * quarter);
        const until = new Date(from.getTime() + length * quarter);
        const filter = group === 'destination' && !('destinationDomain' in given) ? {} : given;
        const query = { timeZone: 'Asia/Kathmandu', from, until, group, ...filter };
        const rows = await readReport(kysely, account, query);
        assert.deepEqual(
          rows.map(({ key, counts, latency }) => [
            key,
            counts.accepted,
            counts.opened_people_unique,
            latency,
          ]),
          await sumQuarters(query),
        );
      },
    ),
  );
});

/** Quarter hours by locale: those of variants as they are counted, the rest of each template as its default content. */
const byContent = `(
  select account_id, quarter, template_id, locale, ${reportColumns.join(', ')} from report_locale
  union all
  select account_id, quarter, template_id, 'default', ${reportColumns.map((name) => `sum(${name})`).join(', ')} from (
    select account_id, quarter, template_id, ${reportColumns.join(', ')} from report_total
    union all
    select account_id, quarter, template_id, ${reportColumns.map((name) => `-${name}`).join(', ')} from report_locale) as each
  group by 1, 2, 3) as content`;

/** The same, computed directly from the quarter hours. */
async function sumQuarters(query: ReportQuery): Promise<unknown[]> {
  const { group, templateId, locale, tag, senderDomain, destinationDomain } = query;
  const telling = group === 'locale' || locale !== undefined;
  const table = telling
    ? byContent
    : group === 'destination' || destinationDomain !== undefined
      ? 'report_destination'
      : 'report_total';
  const time = `to_char(date_trunc('${group}', quarter at time zone '${query.timeZone}'), 'YYYY-MM-DD"T"HH24:MI')`;
  const keys = {
    none: `''`,
    hour: time,
    day: time,
    template: 'template_id',
    locale: 'locale',
    tag: 'tag',
    sender: 'sender_domain',
    destination: 'destination_domain',
  };
  const where = Object.entries({
    template_id: templateId,
    locale,
    tag,
    sender_domain: senderDomain,
    destination_domain: destinationDomain,
  })
    .flatMap(([column, value]) => (value === undefined ? [] : [` and ${column} = '${value}'`]))
    .join('');
  const range = `account_id = $1 and quarter >= $2 and quarter < $3`;
  const values = [account, query.from, query.until];
  const { rows } = await pool.query(
    `select ${keys[group]} as key, sum(accepted)::int as accepted, sum(opened_people_unique)::int as unique
     from ${table} where ${range} ${where} group by 1
     ${telling ? 'having sum(accepted + delivered + deferred + bounced_hard + bounced_soft + complained + unsubscribed + expired + opened_people + opened_machines + clicked_people + clicked_machines) > 0' : ''} order by 1`,
    values,
  );
  const counted =
    table === 'report_total' &&
    tag === undefined &&
    senderDomain === undefined &&
    group !== 'tag' &&
    group !== 'sender';
  const steps = counted
    ? await pool.query(
        `select ${keys[group]} as key, string_agg(histogram, ''::bytea) as histograms from report_latency
         where ${range} ${where} group by 1`,
        values,
      )
    : { rows: [] };
  return rows.map(({ key, accepted, unique }) => [
    key,
    accepted,
    unique,
    latencyOf(
      addHistograms(steps.rows.find((row) => row.key === key)?.histograms ?? Buffer.alloc(0)),
    ),
  ]);
}

test('a report can count beyond 31 bits', async () => {
  for (const day of ['2031-01-01', '2031-01-02'])
    await pool.query(
      `insert into report_sum (account_id, span, sum_of, key, tag, begins, accepted) values ($1, 'day', 'all', '', '', $2, 2000000000)`,
      [account, `${day}T00:00:00Z`],
    );
  const years = { ...all, from: new Date('2031-01-01'), until: new Date('2032-01-01') };
  const [row] = await readReport(kysely, account, { ...years, group: 'none' });
  assert.equal(row?.counts.accepted, 4_000_000_000);
});

test('a report is a CSV with a header line', async () => {
  const rows = await readReport(kysely, account, { ...all, group: 'tag' });
  const lines = reportCsv('tag', rows).split('\r\n');
  assert.match(lines[0] ?? '', /^tag,accepted,delivered,bounced_hard,/);
  assert.equal(lines.length, rows.length + 2);
  assert.equal(lines[1]?.split(',').length, lines[0]?.split(',').length);
});

test('messages are found by every filter, newest first, page by page', async () => {
  const id = await accept({ to: 'Zoe@people.test', cc: ['carl@people.test'], tag: 'find' });
  await addEventTo(id, 'delivered', 1_000);
  await addEventTo(id, 'bounced', 5_000, { cause: 'content', by: 'mail' }, 1);
  await feed.catchUp();
  const find = async (filter: object) =>
    (await findMessages(kysely, account, { limit: 10, ...filter })).found.map((row) => [
      row.messageId,
      row.recipient,
      row.state,
    ]);
  assert.deepEqual(await find({ address: 'zoe@PEOPLE.test' }), [[id, 0, 'delivered']]);
  assert.deepEqual(await find({ address: 'carl@people.test' }), [[id, 1, 'bounced']]);
  assert.deepEqual(await find({ externalId: `order-${id}` }), [
    [id, 0, 'delivered'],
    [id, 1, 'bounced'],
  ]);
  assert.deepEqual(await find({ tag: 'find', state: 'bounced' }), [[id, 1, 'bounced']]);
  assert.deepEqual(await find({ messageId: id, until: new Date(Date.now() - 3_600_000) }), []);
  const seen: string[] = [];
  for (let before: string | undefined; ; ) {
    const { found: page } = await findMessages(kysely, account, {
      limit: 7,
      ...(before !== undefined && { before: before as never }),
    });
    seen.push(...new Set(page.map(({ messageId }) => messageId)));
    before = page.at(-1)?.messageId;
    if (before === undefined) break;
  }
  assert.deepEqual(seen, [...seen].sort().reverse());
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from message',
  );
  assert.equal(seen.length, rows[0]?.count);
  assert.equal(new Set(seen).size, seen.length);
});

test('a rare combination of filters is searched in steps, and no match is missed', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 60; count += 1) {
    const rare = count % 17 === 3;
    const id = await accept({ tag: 'often', cc: ['one@people.test', 'two@people.test'] });
    if (rare) ids.unshift(id);
    await addEventTo(id, rare ? 'bounced' : 'delivered', count, {}, 1 + (count % 2));
  }
  await feed.catchUp();
  const seen: string[] = [];
  let pages = 0;
  for (let before: string | undefined, limit = 3; pages < 100; pages += 1) {
    const filter = { tag: 'often', templateId: 't1', state: 'bounced' as const, limit };
    const where = before === undefined ? {} : { before: before as never };
    const { found, next } = await findMessages(
      kysely,
      account,
      { ...filter, ...where },
      { rows: 18, maxMs: 0 },
    );
    seen.push(...found.map(({ messageId }) => messageId));
    before = found.length === limit ? found.at(-1)?.messageId : next;
    if (before === undefined) break;
  }
  assert.deepEqual(seen, ids);
});

test('percentiles come from the histogram', () => {
  assert.equal(latencyOf([]), undefined);
  const steps = [
    { step: 0, count: 50 },
    { step: 80, count: 49 },
    { step: 160, count: 1 },
  ];
  assert.deepEqual(latencyOf(steps), { p50: 1, p95: 1_024, p99: 1_024 });
});

test('the reason why a message has not arrived is a sentence with a next step', () => {
  const status = (
    kind: string,
    detail: unknown,
    entry?: Partial<StoredMessageStatus['entry']>,
  ): StoredMessageStatus =>
    ({
      message: { state: kind },
      entry: entry && {
        due_at: new Date(base),
        reason: null,
        paused: null,
        pending: [0],
        leased: false,
        ...entry,
      },
      events: [{ at: new Date(base), kind, recipient: 0, detail }],
    }) as unknown as StoredMessageStatus;
  const about = { reason: 'r', server: 'mx.people.test:25' };
  for (const [kind, cause, sentence, nextStep] of [
    ['bounced', 'no-mailbox', 'That mailbox doesn’t exist.', /right address/],
    ['bounced', 'content', 'mx.people.test classified it as spam.', /text and links/],
    [
      'bounced',
      'other',
      'The receiving server rejected it permanently.',
      /Read the server’s reply/,
    ],
    ['deferred', 'greylist', 'Greylisted: mx.people.test asks new senders to wait.', /don’t need/],
    ['deferred', 'connection', 'Couldn’t connect to mx.people.test.', /don’t need/],
    ['deferred', 'our-credentials', 'mx.people.test rejected the login.', /SMTP_URL/],
    ['deferred', 'other', 'It couldn’t be delivered yet: r.', /don’t need/],
  ] as const) {
    const waits = kind === 'deferred' ? { reason: 'r' } : undefined;
    const found = explainMessage(
      status(kind, { ...about, cause, reply: '451 <to>: later' }, waits),
    );
    assert.equal(found.sentence, sentence);
    assert.match(found.nextStep, nextStep);
    assert.equal(found.reply, '451 <to>: later');
  }
  const silent = explainMessage(status('bounced', { cause: 'content' }));
  assert.deepEqual(
    [silent.sentence, silent.reply],
    ['The receiving server classified it as spam.', undefined],
  );
  const reported = explainMessage(
    status('bounced', { by: 'mail', cause: 'mailbox-full', reason: '552 full' }),
  );
  assert.deepEqual([reported.sentence, reported.reply], ['The mailbox is full.', '552 full']);
  assert.match(explainMessage(status('delivered', {})).nextStep, /spam folder/);
  const throttled = explainMessage(
    status('deferred', { ...about, cause: 'greylist' }, { reason: 'shop.test is warming up' }),
  );
  assert.deepEqual(throttled, {
    sentence: 'It waits: shop.test is warming up.',
    nextStep: 'It is sent once that is over.',
  });
  const held = explainMessage(
    status('uncertain', {}, { pending: [0], due_at: null, reason: 'ask' }),
  );
  assert.match(held.sentence, /held for review: ask/);
});

test('a template is looked up once for each language of its messages, not for each message', async () => {
  const ids = [];
  for (const variant of [undefined, undefined, 'de', 'de', undefined])
    ids.push(await accept(variant === undefined ? {} : { variant }));
  const asked: (string | undefined)[] = [];
  const templates = {
    version: () => undefined,
    localized: (_account: unknown, _template: unknown, _version: unknown, locale?: string) => {
      asked.push(locale);
      return undefined;
    },
  };
  const refs = ids.map((id) => ({
    accountId: account,
    id: id as MessageId,
    templateId: 't1' as TemplateId,
    version: 1,
  }));
  await readSubjects(kysely, templates, refs);
  assert.deepEqual(asked.sort(), ['de-x-own', undefined]);
});
