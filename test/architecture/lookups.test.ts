import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';

/** Files that import Node's DNS module, and why no stranger's DNS server can occupy its threads there. */
const systemLookups: Readonly<Record<string, string>> = {
  'src/base/dns/dns-server.ts': 'reads the machine’s resolvers, and looks up nothing',
};

/** Requests without a lookup of their own, and whose hosts they are for. */
const unguardedRequests: Readonly<Record<string, string>> = {
  'src/sending/delivery/mta-sts/sts-policies.ts': 'calls fetchStsPolicy, which has one',
  'src/content/template-types/management-connection.ts':
    'the service that the caller of a command names',
};

const importsDns = /from 'node:dns(?:\/promises)?'|import\('node:dns/;
const importsRequest = /import \{[^}]*\b(?:request|get)\b[^}]*\} from 'node:https?'/;
const callsFetch = /(?<![.#\w])fetch\(/;
const requestLookup = /\blookup(?:,|: )/;

const files = await Array.fromAsync(glob('src/**/*.ts'));
const texts = await Promise.all(
  files.map(async (file) => [file, await readFile(file, 'utf8')] as const),
);
const filesWith = (matches: (text: string) => boolean): string[] =>
  texts.filter(([, text]) => matches(text)).flatMap(([file]) => file);

test('names that accounts choose are never looked up by the system, whose lookup threads everything shares', () => {
  const found = filesWith((text) => importsDns.test(text.replaceAll(/import type .*/g, '')));
  assert.deepEqual(found.sort(), Object.keys(systemLookups).sort());
});

test('requests to hosts that accounts choose have a lookup of their own', () => {
  const requesting = filesWith((text) => importsRequest.test(text));
  assert.ok(requesting.includes('src/outcomes/webhook/post-webhook.ts'));
  const unguarded = filesWith(
    (text) => (importsRequest.test(text) && !requestLookup.test(text)) || callsFetch.test(text),
  );
  assert.deepEqual(unguarded.sort(), Object.keys(unguardedRequests).sort());
});
