import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { test } from 'node:test';

/**
 * The districts and their rooms in dependency order: a file imports only from its own room and earlier ones. Rooms in one
 * array know each other, and the files of a district that are in no room (its context and what wires it) know all of its rooms.
 */
const districts: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  base: [
    'values',
    'fairness',
    'database',
    'secrets',
    'telemetry',
    'threads',
    'dns',
    'network',
    'mime',
  ],
  host: ['brand', 'embedded-database', 'backup', 'http', 'console-server'],
  accounts: [
    'audit',
    'notices',
    'account',
    'access',
    'requests',
    'sender',
    ['oauth', 'sign-in', 'me', 'invitation'],
  ],
  content: [
    'template-types',
    'template',
    'message',
    'rendering',
    'hosted-image',
    'suppression',
    'list',
  ],
  sending: [
    'queue',
    'submission',
    'system-mail',
    'signing',
    'delivery',
    'smtp-submission',
    'inbox',
  ],
  outcomes: [
    'feed',
    'tracking',
    'guarded-link',
    'unsubscribe',
    'reply',
    ['bounce', 'relay'],
    'progress',
    'retention',
    'report',
    'webhook',
  ],
  'drop-in': ['provider', 'resend', 'postmark', 'sendgrid', 'mailgun', 'ses'],
  outbox: ['source', 'reader'],
  operating: ['move', 'change', 'manifest', 'demo-data', 'management', 'config', 'command'],
};

/** Rooms in order; those that know each other have the same place. */
const places = new Map<string, number>(
  Object.entries(districts).flatMap(([district, rooms], nth) =>
    rooms.flatMap((group, place) =>
      [group].flat().map((room) => [`${district}/${room}`, nth * 100 + place] as const),
    ),
  ),
);

/** They connect everything, so they may import everything; only `operating/command` imports `app.ts`. */
const wiring = ['app.ts', 'main.ts'];

const source = join(import.meta.dirname, '../../src');
const importPattern = /(?:import|export)\s(?:[^'";]*?from\s)?'(\.[^']+)'|import\('(\.[^']+)'\)/g;

async function readImports(): Promise<Map<string, string[]>> {
  const imports = new Map<string, string[]>();
  for await (const file of glob('**/*.ts', { cwd: source })) {
    const text = await readFile(join(source, file), 'utf8');
    const found = [...text.matchAll(importPattern)].map((match) =>
      normalize(join(dirname(file), match[1] ?? match[2] ?? '')),
    );
    imports.set(file, found);
  }
  return imports;
}

/** `sending/queue` for a file of a room, `sending` for one directly in its district, and the name of one in no district. */
function roomOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 2).join('/') || file;
}

function mayImport(file: string, target: string): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  const [fromDistrict = '', toDistrict = ''] = [from, to].map((room) => room.split('/')[0]);
  const order = Object.keys(districts);
  if (fromDistrict !== toDistrict) return order.indexOf(toDistrict) < order.indexOf(fromDistrict);
  const [fromPlace, toPlace] = [places.get(from), places.get(to)];
  return from === to || fromPlace === undefined || toPlace === undefined || toPlace <= fromPlace;
}

test('every file of src is in a known room, or directly in a district', async () => {
  const known = [...places.keys(), ...Object.keys(districts), ...wiring];
  const strangers = [...(await readImports()).keys()].filter(
    (file) => !known.includes(roomOf(file)),
  );
  assert.deepEqual(strangers, []);
});

test('files import only from their own room or an earlier one', async () => {
  const wrong: string[] = [];
  for (const [file, targets] of await readImports()) {
    if (wiring.includes(file)) continue;
    for (const target of targets)
      if (!target.startsWith('..') && !mayImport(file, target)) wrong.push(`${file} -> ${target}`);
  }
  assert.deepEqual(wrong, []);
});

test('imports have no cycles', async () => {
  const imports = await readImports();
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file) || path.includes(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  assert.deepEqual(cycles, []);
});

test('SQL occurs only in stores and their fragments, in base, in embedded-database and in migrations', async () => {
  const wrong: string[] = [];
  for (const [file] of await readImports()) {
    if (/-(store|sql)\.ts$/.test(file) || /^(base|host\/embedded-database)\//.test(file)) continue;
    const text = await readFile(join(source, file), 'utf8');
    if (/\bsql`|\.query\(|from 'pg'|from 'kysely'|database\/statements\.ts'/.test(text))
      wrong.push(relative('.', file));
  }
  assert.deepEqual(wrong, []);
});

test('packages import nothing outside their folder', async () => {
  const root = join(source, '..');
  const wrong: string[] = [];
  for await (const file of glob('packages/*/src/**/*.ts', { cwd: root })) {
    const own = file.split('/').slice(0, 2).join('/');
    for (const match of (await readFile(join(root, file), 'utf8')).matchAll(importPattern)) {
      const target = normalize(join(dirname(file), match[1] ?? match[2] ?? ''));
      if (!target.startsWith(`${own}/`)) wrong.push(`${file} -> ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});
