import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';

const folder = mkdtempSync(join(tmpdir(), 'signalpost-judges-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `selector._domainkey.domain` and its TXT record. */
export interface DkimRecord {
  readonly name: string;
  readonly value: string;
}

export async function requireDkimPass(raw: Buffer, keys: readonly DkimRecord[]): Promise<void> {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => [[keys.find((key) => key.name === name)?.value ?? '']],
  });
  assert.deepEqual(
    results.map(({ status }) => status.result),
    keys.map(() => 'pass'),
  );
}

export function requireOpenDkimPass(raw: Buffer, keys: readonly DkimRecord[]): void {
  const keyFile = join(folder, 'keys');
  writeFileSync(keyFile, keys.map(({ name, value }) => `${name} ${value}\n`).join(''));
  const settings = join(folder, 'opendkim.conf');
  writeFileSync(settings, `Mode v\nSyslog no\nTestPublicKeys ${keyFile}\n`);
  const file = join(folder, 'mail.eml');
  writeFileSync(file, raw);
  const { status, stdout, stderr } = spawnSync(
    'opendkim',
    ['-x', settings, '-v', '-v', '-t', file],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout + stderr, /verification \(s=\S+,? d=shop\.test.*\) succeeded/);
}

/** A SpamAssassin score of 0 or less, without network tests: block lists and SPF say nothing about the message. */
export function requireNoSpam(raw: Buffer): void {
  const { stdout, stderr, status } = spawnSync('spamassassin', ['--local', '--test-mode'], {
    input: raw,
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
    env: { ...process.env, HOME: folder },
  });
  assert.equal(status, 0, stderr);
  const score = /^X-Spam-Status: \w+, score=(-?[\d.]+)/m.exec(stdout)?.[1];
  assert.ok(score !== undefined, stdout.slice(0, 2_000));
  assert.ok(Number(score) <= 0, stdout.slice(stdout.indexOf('Content analysis details')));
}

export interface PythonMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly to: { readonly name: string; readonly address: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly files: readonly {
    readonly name: string;
    readonly type: string;
    readonly contentId: string | null;
    readonly disposition: string;
    /** Base64. */
    readonly content: string;
  }[];
}

/** Reads a message with Python's email package in strict mode, in which every defect is an error. */
export function readWithPython(raw: Buffer): PythonMail {
  const program = `
import base64, email, email.header, email.headerregistry, email.policy, email.utils, json, sys
message = email.message_from_binary_file(sys.stdin.buffer, policy=email.policy.strict)
files = []
for part in message.walk():
    assert not part.defects, part.defects
    for name, value in part.items():
        assert not value.defects, (name, value.defects)
    if part.is_multipart():
        continue
    part.get_content()
    if part.get_content_disposition() is not None:
        files.append({'name': part.get_filename(), 'type': part.get_content_type(), 'contentId': part['content-id'],
          'disposition': part.get_content_disposition(),
          'content': base64.b64encode(part.get_payload(decode=True)).decode()})
# Its parser keeps spaces between encoded words of a name (CPython issue 128110), decode_header does not.
raw_name, address = email.utils.parseaddr(dict(message.raw_items())['To'].replace('\\r\\n', ''))
to = email.headerregistry.Address(str(email.header.make_header(email.header.decode_header(raw_name))), addr_spec=address)
print(json.dumps({'subject': message['subject'], 'text': message.get_body(('plain',)).get_content(),
  'html': message.get_body(('html',)).get_content(), 'to': {'name': to.display_name, 'address': to.addr_spec},
  'headers': {name.lower(): str(value) for name, value in message.items()}, 'files': files}))`;
  const output = execFileSync('python3', ['-c', program], {
    input: raw,
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return JSON.parse(output) as PythonMail;
}

/** The attachments and inline parts that munpack finds, by the names that it gives them. It knows no RFC 2231. */
export function unpackFiles(raw: Buffer): Map<string, Buffer> {
  const mail = join(folder, 'packed.eml');
  writeFileSync(mail, raw);
  const out = mkdtempSync(join(folder, 'unpacked-'));
  const { status, stdout, stderr } = spawnSync('munpack', ['-q', '-f', '-C', out, mail], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
  return new Map(readdirSync(out).map((name) => [name, readFileSync(join(out, name))]));
}
