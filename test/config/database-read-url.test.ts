import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.ts';

test('DATABASE_READ_URL names replicas of DATABASE_URL, in the forms of libpq', () => {
  const databaseUrl = 'postgres://u:p@db.test/mail';
  const read = (url: string) =>
    readConfig({ DATABASE_URL: databaseUrl, DATABASE_READ_URL: url }).databaseReadUrl;
  for (const url of [
    'postgres://u:p@replica.test/mail',
    'postgres://u:p@a.test:5433,b.test/mail?target_session_attrs=standby',
  ])
    assert.equal(read(url), url);
  assert.equal(readConfig({ DATABASE_URL: databaseUrl }).databaseReadUrl, undefined);
  assert.throws(() => read('mysql://u@a.test/mail'), {
    name: 'OperatorError',
    message: /^DATABASE_READ_URL must look like postgres:/,
  });
  assert.throws(() => readConfig({ DATABASE_READ_URL: databaseUrl }), {
    name: 'OperatorError',
    message: /DATABASE_READ_URL needs DATABASE_URL, because the embedded database has no replicas/,
  });
});
