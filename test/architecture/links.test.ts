import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { markdownPages } from '../support/markdown-pages.ts';

const root = join(import.meta.dirname, '../..');

test('every relative link and anchor in a Markdown page has a target', () => {
  const dead: string[] = [];
  for (const page of markdownPages(root)) {
    const text = withoutCode(readFileSync(join(root, page), 'utf8'));
    const links = [
      ...text.matchAll(/\]\(([^)\s]+)\)/g),
      ...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g),
    ].map(([, link = '']) => link);
    for (const link of links) {
      if (/^[a-z]+:/i.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, target))) dead.push(`${page}: ${link}`);
      else if (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor))
        dead.push(`${page}: ${link} (no such heading)`);
    }
  }
  assert.deepEqual(dead, []);
});

test('every page of docs/ can be reached from its index', () => {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
  for (const page of markdownPages(root))
    if (page.startsWith('docs/') && page !== 'docs/README.md')
      assert.ok(index.includes(`](${page.slice('docs/'.length)})`), page);
});

test('every file named in a Markdown page exists', () => {
  const missing: string[] = [];
  for (const page of markdownPages(root)) {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
    for (const [, path = ''] of text.matchAll(
      /`((?:bench|bin|console|demo|docs|migrations|scripts|src|test|test-long|test-system)\/[\w./-]+)`/g,
    )) {
      // Build outputs don't exist before a build, and `NNNN` is a placeholder for a number.
      if (/^console\/dist\b|NNNN/.test(path)) continue;
      if (!existsSync(join(root, path))) missing.push(`${page}: ${path}`);
    }
  }
  assert.deepEqual(missing, []);
});

/** The anchors of a page's headings, as GitHub generates them. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
    const slug = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').replaceAll(/`[^`\n]+`/g, '');
}
