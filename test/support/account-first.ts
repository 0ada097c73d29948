import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { watchStatements } from './record-statements.ts';

/** Application name of the connections that a test itself opens. */
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

/** Statements that run before the account is known or span all accounts: the reason, and a pattern that recognizes them. */
const exceptions: readonly (readonly [why: string, form: RegExp])[] = [
  [
    'finds the accounts that have due messages',
    /^ ?with recursive waiting \(account_id, priority\)/,
  ],
  [
    'a client id alone identifies an integration and its account',
    /(from|update) "?integration"? .*where "?client_id"? = /,
  ],
  ['the person determines which accounts are read', /from "?membership"? where "?person_id"? = /],
  [
    'a notice about a person goes to the security addresses of that person’s accounts',
    /^ ?select n\.to_address .* join membership m on m\.person_id = p\.id join account a on a\.id = m\.account_id/,
  ],
  ['the service’s own mail is one queue, in which links come before notices', /\bsystem_mail\b/],
  [
    'sessions belong to a person and an integration, not to an account',
    /\b(grant_code|session_pair|access_token)\b/,
  ],
  ['the feed reads committed events of all accounts in order', /\btx (>= |desc limit 1\) >= )/],
  [
    'lists the endpoints of all accounts; each one is then handled separately',
    /^ ?select account_id as "accountId", id, paused_at is not null as paused from webhook_endpoint$/,
  ],
  [
    'operators and programs read the captured mail of all accounts together',
    /\binbox_message where (true and|id = \$1 and true|received_at >)|from inbox_message m where true and/,
  ],
  [
    'limits how much captured mail there is of all accounts',
    /^ ?delete from inbox_message where id in \( select id from \( select id, row_number\(\)/,
  ],
  ['checks whether any webhook exists', /^ ?select exists \(select from webhook_endpoint\)/],
  ['deletes old rows of every account', /^ ?delete from template_call where last_at < now\(\)/],
  [
    'deletes rejected rows of imports by age, in every account',
    /^ ?delete from file_import_rejection where created_at < now\(\)/,
  ],
  [
    'deletes audit log entries by age, in every account',
    /^ ?delete from "audit_event" where \(id\) in \( select id from "audit_event" where (account_id is null and .*)?at < now\(\)/,
  ],
];

/**
 * True if a statement follows the rule of ARCHITECTURE.md that account data is only queried per account. The rule keeps
 * accounts from seeing each other's data and lets a distributed database route the query.
 */
export function isAccountFirst(statement: string): boolean {
  const text = statement.replaceAll(/\s+/g, ' ');
  if (!onAccountData.test(text) || namesAccount.test(text)) return true;
  return exceptions.some(([, form]) => form.test(text));
}

/** Records every statement sent to PostgreSQL until the end of the file, except on the tests' own connections. */
function recordUntilEnd(): ReadonlySet<string> {
  const seen = new Set<string>();
  const end = watchStatements((text, client) => {
    const { application_name: application } = (
      client as unknown as { connectionParameters: { application_name?: string } }
    ).connectionParameters;
    if (application !== testApplication) seen.add(text);
  });
  after(end);
  return seen;
}

/**
 * Adds a test, to be called at the end of a file: the statements of the file's services followed the rule.
 * @param minStatements how many statements on account data the file is known to run, so that the test can't pass with none
 */
export function testAccountFirst(minStatements: number): void {
  const seen = recordUntilEnd();
  test('rule 7: every statement on account data that ran in this file names the account', () => {
    const watched = [...seen].filter((text) => onAccountData.test(text.replaceAll(/\s+/g, ' ')));
    assert.ok(watched.length >= minStatements, `${watched.length} statements on account data`);
    assert.deepEqual(
      watched.filter((text) => !isAccountFirst(text)),
      [],
    );
  });
}
