import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { openFrameworkShop, writeFiles } from '../support/framework-shop.ts';

/** The initializer and the mailer of docs/frameworks/rails.md, in an app of Debian's Rails. */
const run = promisify(execFile);
const folder = temporaryFolder();
const { env, ca, requireReceipt, suppress } = await openFrameworkShop();
await writeFiles('docs/frameworks/rails.md', folder);
await writeFile(
  join(folder, 'main.rb'),
  `
require "rails"
require "action_mailer/railtie"

class App < Rails::Application
  config.root = __dir__
  config.eager_load = false
  config.logger = Logger.new(nil)
  config.secret_key_base = "a secret of the tests"
end

App.initialize!
ARGV.each do |address|
  ReceiptMailer.receipt("A-1001", address).deliver_now
  puts "sent"
rescue => error
  puts "#{error.class} #{error.message.lines.map(&:strip).join(" ")}"
end
`,
);

/** Sends to addresses. @returns what came of each */
async function send(addresses: readonly string[], environment: object = {}): Promise<string[]> {
  const { PATH } = process.env;
  // Debian's packages are for Debian's Ruby.
  const { stdout } = await run('/usr/bin/ruby', ['main.rb', ...addresses], {
    cwd: folder,
    env: { PATH, ...env, RAILS_ENV: 'production', SSL_CERT_FILE: ca, ...environment },
  });
  return stdout.trimEnd().split('\n');
}

await suppress('gone@people.test');
const [first, second, gone = ''] = await send([
  'ada@people.test',
  'ada@people.test',
  'gone@people.test',
]);

test('a message of Action Mailer arrives with both parts, once although it is sent twice', async () => {
  assert.deepEqual([first, second], ['sent', 'sent']);
  await requireReceipt('ada@people.test');
});

test('a refusal is an exception with the reply of the service', async () => {
  assert.match(gone, /^Net::SMTPFatalError 550 5\.7\.1 Recipient suppressed/);
  const [unknown = ''] = await send(['ada@people.test'], { SMTP_PASSWORD: 'sp_no' });
  assert.match(unknown, /^Net::SMTPAuthenticationError 535 5\.7\.8/);
  const [closed = ''] = await send(['ada@people.test'], { SMTP_PORT: String(await freePort()) });
  assert.match(closed, /^Errno::ECONNREFUSED/);
});

test('the certificate is checked', async () => {
  const [refused = ''] = await send(['ada@people.test'], { SMTP_HOST: '127.0.0.1' });
  assert.match(refused, /^OpenSSL::SSL::SSLError .*certificate verify failed/);
});
