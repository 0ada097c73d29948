import { createHash } from 'node:crypto';
import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { defineConfig } from 'vitepress';

const root = join(import.meta.dirname, '../..');
const pagesFolder = join(import.meta.dirname, 'pages');
const base = '/docs/guide/';
/** Pages that stand beside `docs` in the repository. */
const besides = ['ARCHITECTURE.md', 'SECURITY.md', 'CHANGELOG.md'];

interface Page {
  readonly title: string;
  /** Path of its Markdown below `docs`. */
  readonly file: string;
  /** What a reader gets from it. */
  readonly purpose: string;
}

/** The chapters and pages of the index, whose tables are the only list of pages. */
function readIndex(): { readonly title: string; readonly pages: readonly Page[] }[] {
  const index = readFileSync(join(pagesFolder, 'index.md'), 'utf8');
  const [, ...chapters] = index.split(/^## /m);
  return chapters.map((chapter) => {
    const [title = '', ...lines] = chapter.split('\n');
    const pages = lines.flatMap((line) => {
      if (!line.startsWith('| [')) return [];
      const purpose =
        line
          .split('|')[2]
          ?.trim()
          .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1') ?? '';
      return [...line.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)].map(([, name = '', file = '']) => ({
        title: name,
        file: posix.normalize(file),
        purpose,
      }));
    });
    return { title, pages };
  });
}

/** Copies the Markdown of the repository, with links that work on the site. */
function copyPages(): void {
  rmSync(pagesFolder, { recursive: true, force: true });
  cpSync(join(root, 'docs'), pagesFolder, { recursive: true });
  for (const name of besides) cpSync(join(root, name), join(pagesFolder, name));
  const pages = globSync('**/*.md', { cwd: pagesFolder });
  for (const page of pages) {
    const inDocs = besides.includes(page) ? '.' : posix.join('docs', posix.dirname(page));
    const text = readFileSync(join(pagesFolder, page), 'utf8');
    const linked = text.replace(
      /\[([^\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)/g,
      (_link, name, target, place = '') => {
        const file = posix.join(inDocs, target);
        const below = file.startsWith('docs/') ? file.slice('docs/'.length) : file;
        const shown = posix.relative(
          posix.dirname(page),
          below === 'README.md' ? 'index.md' : below,
        );
        if ((file.startsWith('docs/') && !file.endsWith('.json')) || besides.includes(file))
          return `[${name}](./${shown}${place})`;
        // Other files of the documentation are beside the pages; of the program’s files only the name is of use here.
        return file.startsWith('docs/') ? `[${name}](${base}${below}){target="_self"}` : name;
      },
    );
    writeFileSync(join(pagesFolder, page), linked.replace(/(src|srcset)="(?=images)/g, '$1="./'));
  }
  renameSync(join(pagesFolder, 'README.md'), join(pagesFolder, 'index.md'));
  // What isn’t a page is published as it is.
  for (const file of globSync('**/*.json', { cwd: pagesFolder })) {
    mkdirSync(dirname(join(pagesFolder, 'public', file)), { recursive: true });
    cpSync(join(pagesFolder, file), join(pagesFolder, 'public', file));
  }
}

copyPages();
const chapters = readIndex();
const addressOf = (file: string): string => file.replace(/\.md$/, '');

/** Writes what agents read: the list of pages, and all of them in one file (llmstxt.org). */
function writeForAgents(folder: string): void {
  const heading =
    '# Signalpost\n\n> Self-hosted service that sends one email to one person because something happened.\n';
  const list = chapters.map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${page.title}](${base}${addressOf(page.file)}): ${page.purpose}`,
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  const all = `Everything in one file: ${base}all.md\n`;
  writeFileSync(join(folder, 'llms.txt'), [heading, all, ...list].join('\n'));
  const files = [...new Set(chapters.flatMap(({ pages }) => pages.map(({ file }) => file)))];
  const texts = files.map((file) => readFileSync(join(pagesFolder, file), 'utf8').trim());
  writeFileSync(join(folder, 'all.md'), `${[heading.trim(), ...texts].join('\n\n---\n\n')}\n`);
}

/** Moves scripts of a page into files, because the service allows no others (CSP Level 3 section 6.1.11). */
function withoutInlineScripts(html: string, folder: string): string {
  return html.replace(/<script(?: id="[a-z-]*")?>(.*?)<\/script>/gs, (_, script: string) => {
    const name = `assets/${createHash('sha256').update(script).digest('hex').slice(0, 12)}.js`;
    mkdirSync(join(folder, 'assets'), { recursive: true });
    writeFileSync(join(folder, name), script);
    return `<script src="${base}${name}"></script>`;
  });
}

/** The manual as a site for the path `/docs/guide`, from the Markdown of the repository. */
export default defineConfig({
  title: 'Signalpost',
  description: 'Self-hosted service that sends one email to one person because something happened',
  base,
  srcDir: pagesFolder,
  outDir: join(import.meta.dirname, '../dist'),
  cleanUrls: true,
  // The search index has the pages in the order in which they were read: one after another, as the package must be reproducible.
  buildConcurrency: 1,
  markdown: {
    // Without a limit, so that a busy machine doesn't leave lines without colors.
    codeTransformers: [
      {
        preprocess(_code, options) {
          options.tokenizeTimeLimit = 0;
        },
      },
    ],
    // Placeholders of templates must not be taken for Vue’s.
    config: ({ renderer, utils }) => {
      renderer.rules.code_inline = (tokens, at) =>
        `<code v-pre>${utils.escapeHtml(tokens[at]?.content ?? '')}</code>`;
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: chapters.map(({ title, pages }) => ({
      text: title,
      collapsed: false,
      items: pages.map((page) => ({ text: page.title, link: `/${addressOf(page.file)}` })),
    })),
    outline: [2, 3],
  },
  transformHtml: (html, _, { siteConfig }) => withoutInlineScripts(html, siteConfig.outDir),
  buildEnd: ({ outDir }) => writeForAgents(outDir),
});
