import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { smtpSnippets } from '../../console/src/smtp/smtp-snippets.ts';

const docs = readFileSync(join(import.meta.dirname, '../../docs/smtp.md'), 'utf8');
const facts = { host: 'mail.example.com', port: 587, accountId: '1000' } as const;

test('docs/smtp.md has the settings of every program that the console shows', () => {
  for (const { parts } of smtpSnippets({ ...facts, secure: false, key: undefined })) {
    const files = parts.filter(({ file }) => file !== undefined);
    assert.ok(files.length > 0);
    for (const { code } of files) assert.ok(docs.includes(`\`\`\`text\n${code}\`\`\``), code);
  }
});

test('with only the port that has TLS from the start, every program uses TLS there', () => {
  const marks: Readonly<Record<string, RegExp>> = {
    postfix: /^smtp_tls_wrappermode = yes$/m,
    php: /ENCRYPTION_SMTPS/,
    python: /SMTP_SSL\(/,
    nodemailer: /secure: true/,
    laravel: /^MAIL_SCHEME=smtps$/m,
    gitlab: /smtp_tls'\] = true/,
  };
  for (const { id, parts } of smtpSnippets({ ...facts, port: 465, secure: true, key: 'sp_key' })) {
    const code = parts.map((part) => part.code).join('\n');
    assert.match(code, marks[id] ?? /^$/);
    assert.match(code, /465/);
    assert.match(code, /sp_key/);
    assert.doesNotMatch(code, /…/);
  }
});
