import { createHash } from 'node:crypto';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import { fixedTexts } from '../../content/rendering/render-subject.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';
import { type Follower, readersRestMs } from '../feed/event-feed.ts';
import { type FeedRange, inWindow, piecesOf } from '../feed/feed-window-store.ts';
import { readSubjects, type SubjectRef } from './read-subjects-store.ts';

/** Scripts that write words without spaces between them. */
const dense =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const letter = `[[\\p{L}\\p{N}\\p{M}]--[${dense}]]`;
/** A run of a dense script, or what is between spaces, without punctuation around it. */
const token = new RegExp(`[${dense}]+|${letter}(?:[[\\S]--[${dense}]]*${letter})?`, 'gv');
const denseStart = new RegExp(`^[${dense}]`, 'u');

/** Longer words are cut. */
const maxWordLength = 64;
const minPartLength = 3;

/**
 * The words of a text as they are searched for: in lower case, without punctuation around them. Of scripts without spaces, each
 * pair of characters is a word.
 */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  for (const [found] of text.normalize('NFKC').toLowerCase().matchAll(token)) {
    if (denseStart.test(found)) for (const pair of pairsOf(found)) words.add(pair);
    else words.add(found.slice(0, maxWordLength));
  }
  return [...words];
}

/** The words that a subject is found by: its words, and parts of those that have punctuation inside, such as `A-1001`. */
export function searchedWordsOf(subject: string): string[] {
  const words = wordsOf(subject);
  const parts = words.flatMap((word) =>
    word.split(/[^\p{L}\p{N}\p{M}]+/u).filter((part) => part.length >= minPartLength),
  );
  return [...new Set([...words, ...parts])];
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Words indexed of one subject, besides those of its template. */
const maxIndexedWords = 16;

/**
 * Writes what finds messages by the words of their subject: the words of the fixed text once per template, and the others, which
 * come from values, per message. Secret values are masked before, so they can't be searched for.
 */
export function followSubjects(
  templates: Pick<TemplateDirectory<LoadedTemplate>, 'localized' | 'variant' | 'version'>,
): Follower {
  return {
    name: 'subjects',
    restMs: readersRestMs,
    async follow(transaction, window, throttle) {
      const versions = await readVersions(transaction, window);
      for (const ref of versions) {
        const words = await fixedWords(templates, ref);
        await insertFixedWords(transaction, ref, words);
      }
      if (versions.length === 0) return;
      for (const piece of piecesOf(window))
        await throttle(() => insertValueWords(transaction, templates, piece));
    },
  };
}

type VersionRef = Omit<SubjectRef, 'id'>;

async function readVersions(transaction: Kysely, range: FeedRange): Promise<VersionRef[]> {
  return await allRows<VersionRef>(transaction)`
    select distinct account_id as "accountId", template_id as "templateId", template_version as version
    from message where ${inWindow(range, 'message')}`;
}

/** The words of the fixed text of a version's subjects, in all its languages. */
async function fixedWords(
  templates: Pick<TemplateDirectory<LoadedTemplate>, 'variant' | 'version'>,
  { accountId, templateId, version }: VersionRef,
): Promise<string[]> {
  const base = await templates.version(accountId, templateId, version);
  if (base === undefined) return [];
  const contents = [base];
  for (const locale of base.compiled.locales ?? []) {
    const variant = await templates.variant({ accountId, templateId, version }, base, locale);
    if (variant !== undefined) contents.push(variant);
  }
  return [...new Set(contents.flatMap((content) => [...fixedWordsOf(content)]))];
}

/** By content, which is loaded once for many messages. */
const knownFixedWords = new WeakMap<LoadedTemplate, ReadonlySet<string>>();

function fixedWordsOf(template: LoadedTemplate): ReadonlySet<string> {
  const known = knownFixedWords.get(template);
  if (known !== undefined) return known;
  const words = new Set(fixedTexts(template.compiled.subject).flatMap(searchedWordsOf));
  knownFixedWords.set(template, words);
  return words;
}

async function insertFixedWords(
  transaction: Kysely,
  { accountId, templateId }: VersionRef,
  words: readonly string[],
): Promise<void> {
  await allRows(transaction)`
    insert into subject_word (account_id, word, template_id)
    select a.id, w.word, ${templateId} from account a cross join unnest(${words}::text[]) as w (word)
    where a.id = ${accountId}
    on conflict do nothing`;
}

async function insertValueWords(
  transaction: Kysely,
  templates: Pick<TemplateDirectory<LoadedTemplate>, 'localized' | 'version'>,
  range: FeedRange,
): Promise<void> {
  const rows = await allRows<SubjectRef & { readonly retentionDays: number }>(transaction)`
    select account_id as "accountId", id, retention_days as "retentionDays", template_id as "templateId",
      template_version as version
    from message where ${inWindow(range, 'message')}`;
  const subjects = await readSubjects(transaction, templates, rows);
  const found = rows.flatMap((row) => {
    const subject = subjects.get(row.id);
    if (subject === undefined) return [];
    const { text, template } = subject;
    const fixed = template && fixedWordsOf(template);
    const words = searchedWordsOf(text).filter((word) => fixed?.has(word) !== true);
    return words.slice(0, maxIndexedWords).map((word) => ({ ...row, hash: subjectWordHash(word) }));
  });
  if (found.length === 0) return;
  await allRows(transaction)`
    insert into message_attribute (account_id, hash, message_id, retention_days)
    select * from unnest(${found.map((row) => row.accountId)}::text[], ${found.map((row) => row.hash)}::bytea[],
      ${found.map((row) => row.id)}::uuid[], ${found.map((row) => row.retentionDays)}::smallint[])
    on conflict do nothing`;
}

/** The `message_attribute.hash` of a word of a subject: that of an attribute without a name, which no message can have. */
export function subjectWordHash(word: string): Buffer {
  return createHash('sha256').update(`=${word}`).digest().subarray(0, 16);
}
