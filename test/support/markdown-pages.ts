import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fenced block of a Markdown page. */
export interface CodeBlock {
  /** The number of its first line in the page. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The last line above the block that isn't blank. */
  readonly above: string;
}

/** Every Markdown page of the repository, the README first; paths are relative to `root`. */
export function markdownPages(root: string): string[] {
  const exclude = (name: string): boolean => name === 'node_modules' || name === 'dist';
  const found = globSync(['*.md', '*/**/*.md'], { cwd: root, exclude }).sort();
  return ['README.md', ...found.filter((page) => page !== 'README.md')];
}

/** The fenced blocks of a page, without the indentation of a surrounding list. */
export function codeBlocks(root: string, page: string): CodeBlock[] {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const blocks: CodeBlock[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const fence = /^( *)```(\w*)/.exec(lines[index] ?? '');
    if (fence === null) continue;
    const [, indent = '', language = ''] = fence;
    const end = lines.indexOf(`${indent}\`\`\``, index + 1);
    if (end < 0) throw new Error(`${page}:${index + 1}: the block has no end`);
    const text = lines.slice(index + 1, end).map((line) => line.slice(indent.length));
    const above = lines.slice(0, index).findLast((line) => line.trim() !== '') ?? '';
    blocks.push({ line: index + 1, language, text: text.join('\n'), above: above.trim() });
    index = end;
  }
  return blocks;
}
