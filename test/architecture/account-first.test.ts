import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountTables, isAccountFirst } from '../support/account-first.ts';

test('rule 7: a statement on account data without the account is recognized, however it is written', () => {
  assert.ok(accountTables.includes('message') && accountTables.includes('template_version'));
  assert.ok(!accountTables.includes('person'));
  for (const [statement, keeps] of [
    ['select * from message where account_id = $1 and id = $2', true],
    ['select * from message where id = $1', false],
    ['select * from "message" as m\n where m.id = $1', false],
    ['update message set state = $1 where id = $2', false],
    ['delete from queued_delivery q using item where q.message_id = item.message_id', false],
    ['delete from queued_delivery q using item where q.account_id = item.account_id', true],
    ['select from contact_list l join contact c using (account_id, list_id)', true],
    ['insert into message (account_id, id) values ($1, $2)', true],
    ['select * from person where email = $1', true],
    ['select * from message_search_state', true],
  ] as const)
    assert.equal(isAccountFirst(statement), keeps, statement);
});
