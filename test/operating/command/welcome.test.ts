import assert from 'node:assert/strict';
import { test } from 'node:test';
import { welcome } from '../../../src/operating/command/welcome.ts';
import { readConfig } from '../../../src/operating/config/config.ts';

const facts = {
  config: readConfig({ DATA_DIR: '/srv/mail' }),
  url: 'http://127.0.0.1:3000',
  demo: true,
  program: 'bin/signalpost',
  links: { setUp: undefined, inbox: undefined, lacksOperator: false },
};

test('the start on a data folder from before 0.2.0 says to create a key for the first message', async () => {
  const create = 'DEMO_API_KEY=$(bin/signalpost key create 1000 ';
  const older = await welcome({ ...facts, hasDemoKey: false });
  assert.ok(older.indexOf(create) > older.indexOf('. /srv/mail/demo.env'));
  assert.ok(older.indexOf(create) < older.indexOf('curl -s'));
  assert.ok(!(await welcome({ ...facts, hasDemoKey: true })).includes(create));
});

test('the start names a misspelled setting before its links', async () => {
  const config = readConfig({ DATA_DIR: '/srv/mail', SMTP_ULR: 'smtp://relay.example:25' });
  const links = { ...facts.links, setUp: 'http://127.0.0.1:3000/console#set-up=x' };
  const said = await welcome({ ...facts, config, links, hasDemoKey: true });
  const at = said.indexOf('SMTP_ULR isn’t a setting and has no effect. Did you mean SMTP_URL?');
  assert.ok(at > 0 && at < said.indexOf('make yourself the owner'));
});
