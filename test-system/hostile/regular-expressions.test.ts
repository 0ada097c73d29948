import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSync, Visitor } from 'oxc-parser';
import { checkSync } from 'recheck';

const root = join(import.meta.dirname, '../..');

/** Folders whose regular expressions see what operators or the service itself write. */
const ownText = [
  'host/backup',
  'host/brand',
  'operating/command',
  'operating/config',
  'host/console-server',
  'operating/demo-data',
  'host/embedded-database',
  'base/database',
  'operating/manifest',
  'operating/move',
  'content/template-types',
];

/** What the analysis can't judge or doesn't know: why its time is bounded. */
const explained: ReadonlyMap<RegExp, string> = new Map([
  [/"((?:[^"\\]|\\.)*)"/g, 'the expression before it has made sure that each quote is closed'],
  [/ +[^ ]+/g, 'a header of a request is short and has no blanks at its end'],
  [/<!--|<style\b(?:[^>"']|"[^"]*"|'[^']*')*>/gi, 'in a thread with a time limit'],
  [/\b(\w+): \1\b/g, 'in a thread with a time limit'],
  [/\/\*[\s\S]*?\*\//g, 'in a thread with a time limit'],
  [/"((?:[^"\\]|\\[\s\S])*)"/g, 'in a thread with a time limit'],
  [/<pre\b|<textarea\b|white-space:\s*(?:pre\b(?!-line)|break)/i, 'in a thread with a time limit'],
  [/(?<![ \t])[ \t]*\n[ \t]*/g, 'starts only after another character'],
  [/(?<![ \t])[ \t]+$/gm, 'starts only after another character'],
  [
    /<(\/?)(mjml|mj-[\w-]+)\b((?:"[^"<]*"|'[^'<]*'|[^"'<>])*)>/gi,
    'no tag contains the beginning of another one',
  ],
  [/(?<=^|, )DNS:([a-z0-9_.-]+)(?=,|$)/gi, 'the operator’s certificate'],
  [
    /((?:["'(=]|&quot;|&#34;|&#39;)\s*)cid:([^"'()\s<>]+?)(?=&quot;|&#34;|&#39;|["'()\s<>]|$)/gi,
    'what follows always ends it; see the test of growth',
  ],
  [
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'a domain has at most 253 characters',
  ],
  [/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, 'an IP address'],
  [
    /(?<![\d.:[-])([45][0-5]\d)(?:[ :,>#-]+\(?#?([45]\.\d{1,3}\.\d{1,3})\b)?(?=[ :,;)>-]|$)/m,
    'starts only at a code of three digits; see the test of growth',
  ],
]);

/** Those that are built while the service runs: how they look with an example of what is put in, or why their time is bounded. */
const built: Readonly<Record<string, RegExp | string>> = {
  'src/outcomes/relay/sns-signature.ts':
    /^sns\.(?:(?!cn-)[a-z]{2}(?:-gov)?-(?:central|north|south|(?:north|south)?(?:east|west))-\d{1,2}\.amazonaws\.com|cn-(?:central|north|south|(?:north|south)?(?:east|west))-\d{1,2}\.amazonaws\.com\.cn)$/,
  'src/host/http/direct-routes.ts': /^\/manage\/v1\/[^/?]+\/a\/[^/?]+\/?(?:\?|$)/,
  'src/operating/management/management-module.ts': /^\/manage\/v1\/[^/]+\/a\/[^/]+\/?$/,
  'src/outcomes/report/subject-words-store.ts': 'a subject has a limited length',
  'src/content/template/derive-text.ts': /z0z(\d+)z/g,
  'src/content/template/protect-markup.ts': /z0zn(\d+)z/g,
};

const literalOf = ({ source, flags }: Pick<RegExp, 'source' | 'flags'>): string =>
  `/${source}/${flags}`;

/** Large counts only make the automaton large: what grows, grows with a small one, too. */
function withSmallCounts(source: string): string {
  return source.replace(
    /\{(\d+),(\d+)\}/g,
    (_all, from: string, to: string) => `{${Math.min(2, Number(from))},${Math.min(3, Number(to))}}`,
  );
}

/** Without one, the time at each place of a text is bounded. */
function repeatsWithoutEnd(source: string): boolean {
  const bare = source.replace(/\\./g, '').replace(/\[[^\]]*\]/g, '');
  return /[*+]|\{\d+,\}/.test(bare);
}

test('no regular expression takes more than linear time for what outsiders write', async () => {
  const skipped = new Set([...explained.keys()].map(literalOf));
  const places = new Map<string, { readonly regex: RegExp; readonly file: string }>();
  const building = new Set<string>();
  for await (const file of glob('src/**/*.ts', { cwd: root })) {
    if (ownText.some((folder) => file.startsWith(`src/${folder}/`))) continue;
    const { program } = parseSync(file, await readFile(join(root, file), 'utf8'));
    new Visitor({
      Literal(node) {
        if (!('regex' in node)) return;
        const regex = new RegExp(node.regex.pattern, node.regex.flags);
        places.set(literalOf(regex), { regex, file });
      },
      NewExpression({ callee }) {
        if (callee.type === 'Identifier' && callee.name === 'RegExp') building.add(file);
      },
    }).visit(program);
  }
  assert.ok(places.size > 300, `${places.size}`);
  assert.deepEqual([...building].toSorted(), Object.keys(built).toSorted(), 'those that are built');
  for (const [file, regex] of Object.entries(built))
    if (typeof regex !== 'string') places.set(literalOf(regex), { regex, file });
  const found: string[] = [];
  for (const [literal, { regex, file }] of places) {
    if (skipped.has(literal) || !repeatsWithoutEnd(regex.source)) continue;
    const flags = regex.flags.replace(/[dgy]/g, '');
    const { status } = checkSync(withSmallCounts(regex.source), flags, {
      checker: 'automaton',
      // Longer than any takes on a busy machine: what is “unknown” was given up.
      timeout: 300_000,
    });
    if (status !== 'safe') found.push(`${file}: ${status}: ${literal}`);
  }
  assert.deepEqual(found, []);
  assert.deepEqual(
    [...skipped].filter((literal) => !places.has(literal)),
    [],
    'these are gone, or written otherwise',
  );
});

test('the analysis finds what once stopped the service', () => {
  for (const regex of [/[.,;:!?*_\]]+$/, /[\s.]+$/, /^(a+)+$/])
    assert.equal(checkSync(regex.source, '', { checker: 'automaton' }).status, 'vulnerable');
});
