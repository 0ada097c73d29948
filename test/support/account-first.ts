import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';

/** Application name of the connections that a test itself uses. */
export const testApplication = 'signalpost test';

const schema = readFileSync(join(import.meta.dirname, '../../migrations/schema.sql'), 'utf8');

/** Tables whose rows belong to accounts. */
export const accountTables: readonly string[] = [
  ...schema.matchAll(/^create table (\w+) \(([^;]*)/gm),
]
  .filter(([, , columns = '']) => /^ {2}account_id /m.test(columns))
  .map(([, name = '']) => name);

const onAccountData = new RegExp(
  `\\b(from|join|update|into|using) "?(${accountTables.join('|')})"?(?![\\w"])`,
  'i',
);
const namesAccount =
  /account_id"? ?(=|in \(|is not distinct)|^ ?insert into|using \(account_id|\((\w+\.)?account_id, /i;

/** What asks before it is known which account it is about, or is about all of them: why, and how it is known. */
const exceptions: readonly (readonly [why: string, form: RegExp])[] = [
  [
    'finds out which accounts have due messages',
    /^ ?with recursive waiting \(account_id, priority\)/,
  ],
  [
    'an integration is named by its client id alone, which tells its account',
    /(from|update) "?integration"? .*where "?client_id"? = /,
  ],
  [
    'which accounts a person belongs to is told by the person',
    /from "?membership"? where "?person_id"? = /,
  ],
  [
    'sessions are of a person and an integration, not of an account',
    /\b(grant_code|session_pair|access_token)\b/,
  ],
  ['the feed reads what was committed, of all accounts in turn', /\btx (>= |desc limit 1\) >= )/],
  [
    'which endpoints of all accounts are delivered to, each of which is then looked after by itself',
    /^ ?select account_id as "accountId", id from webhook_endpoint where paused_at is null/,
  ],
  ['whether anybody wants webhooks at all', /^ ?select exists \(select from webhook_endpoint\)/],
  ['what is old goes, whosever it is', /^ ?delete from template_call where last_at < now\(\)/],
  [
    'entries of the audit log go by their age, whosever they are',
    /^ ?delete from audit_event where id in \( select id from audit_event where at < now\(\)/,
  ],
];

/**
 * True where a statement keeps the rule of ARCHITECTURE.md that account data is only asked for account by account, so
 * that no account sees another's and a distributed database knows where to ask.
 */
export function isAccountFirst(statement: string): boolean {
  const text = statement.replaceAll(/\s+/g, ' ');
  if (!onAccountData.test(text) || namesAccount.test(text)) return true;
  return exceptions.some(([, form]) => form.test(text));
}

const seen = new Set<string>();

/** Looks at every statement that is given to PostgreSQL, but those of the tests' own connections. */
function watchStatements(): void {
  const prototype = pg.Client.prototype as unknown as {
    query: (this: pg.Client, ...given: unknown[]) => unknown;
  };
  const { query } = prototype;
  prototype.query = function watch(...given) {
    const [asked] = given;
    const text = typeof asked === 'string' ? asked : (asked as { text?: unknown } | null)?.text;
    const { application_name: application } = (
      this as unknown as { connectionParameters: { application_name?: string } }
    ).connectionParameters;
    if (typeof text === 'string' && application !== testApplication) seen.add(text);
    return query.apply(this, given);
  };
}

/**
 * Adds a test, to stand at the end of a file: what the services of the file asked PostgreSQL kept the rule.
 * @param minStatements statements on account data that the file is known to bring about, so that the test cannot look at none
 */
export function testAccountFirst(minStatements: number): void {
  watchStatements();
  test('rule 7: every statement on account data that ran in this file names the account', () => {
    const watched = [...seen].filter((text) => onAccountData.test(text.replaceAll(/\s+/g, ' ')));
    assert.ok(watched.length >= minStatements, `${watched.length} statements on account data`);
    assert.deepEqual(
      watched.filter((text) => !isAccountFirst(text)),
      [],
    );
  });
}
