import { type MessageId, parseMessageId } from '../../../base/values/ids.ts';
import { minIdAt } from '../../../base/values/uuid7.ts';
import { findBySubject } from '../../../outcomes/report/find-by-subject-store.ts';
import {
  findAttributed,
  findMessages,
  type MessageSearchFilter,
} from '../../../outcomes/report/find-messages-store.ts';
import { searchedWordsOf, wordsOf } from '../../../outcomes/report/subject-words-store.ts';
import type { OperationCall } from '../operation.ts';
import { readSubjectsOf } from './mask-content.ts';
import {
  lastId,
  type MessageListFilter,
  type MessageListItem,
  readMessageLines,
  readMessagePage,
  wholeAddress,
} from './message-page-store.ts';

/** A line of the message log with its subject; null once its content is erased. */
export interface LogLine extends MessageListItem {
  readonly subject: string | null;
}

interface LogPage {
  readonly lines: readonly LogLine[];
  /** Where the next page starts; undefined at the end. */
  readonly next: string | undefined;
}

interface PageRequest {
  /** Last ID of the previous page. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** Words of a search; more don't narrow it. */
const maxWords = 8;

/** Messages of the call's account, newest first. A page can be short even if more follow. */
export async function readLogPage(
  call: OperationCall,
  { search, ...filter }: MessageListFilter & { readonly search: string | undefined },
  page: PageRequest,
): Promise<LogPage> {
  if (search !== undefined) return searchLog(call, search, filter, page);
  const { kysely } = call;
  const { lines, next } = await readMessagePage(kysely, call.params.accountId, filter, page);
  return { lines: await addSubjects(call, lines), next };
}

async function addSubjects(
  call: OperationCall,
  lines: readonly MessageListItem[],
): Promise<readonly LogLine[]> {
  const owners = lines.map((line) => ({ ...line, messageId: line.id }));
  const subjectOf = await readSubjectsOf(call, owners);
  return lines.map((line) => ({ ...line, subject: subjectOf(line.id) }));
}

/**
 * Finds messages by what is typed into one box: each kind of text has its own index, and the newest of all are returned, as
 * far as every kind has been searched.
 */
async function searchLog(
  call: OperationCall,
  text: string,
  filter: MessageListFilter,
  { before, limit }: PageRequest,
): Promise<LogPage> {
  const { kysely } = call;
  const accountId = call.params.accountId;
  const end = filter.until === undefined ? lastId : minIdAt(filter.until);
  const range = {
    before: before !== undefined && before < end ? before : end,
    minId: minIdAt(filter.from ?? new Date(0)),
    limit: limit + 1,
  };
  const named = await findNamed(call, text, filter.from, range);
  const words = wordsOf(text).slice(0, maxWords);
  const parts =
    words.length === 0 ? named : [...named, await findBySubject(kysely, accountId, words, range)];
  const { ids, next } = mergeFound(parts);
  const shown = ids.slice(0, limit);
  const found = await readMessageLines(kysely, accountId, filter, shown);
  const exact = new Set(named.flatMap((part) => part.ids));
  const lines = (await addSubjects(call, found)).filter(
    ({ id, subject }) => exact.has(id) || hasWords(subject, words),
  );
  return { lines, next: ids.length > limit ? shown.at(-1) : next };
}

function hasWords(subject: string | null, words: readonly string[]): boolean {
  if (subject === null) return false;
  const own = new Set(searchedWordsOf(subject));
  return words.every((word) => own.has(word));
}

interface FoundIds {
  /** Newest first. */
  readonly ids: readonly MessageId[];
  /** Where to continue; undefined if there are no more. */
  readonly next: string | undefined;
}

interface IdRange {
  readonly before: string;
  readonly minId: string;
  readonly limit: number;
}

const anyAttribute = /^[^=]+=/;

/** Messages that have the whole text as an ID, tag, address or attribute. */
async function findNamed(
  call: OperationCall,
  text: string,
  from: Date | undefined,
  range: IdRange,
): Promise<readonly FoundIds[]> {
  const { kysely } = call;
  const accountId = call.params.accountId;
  const messageId = parseMessageId(text);
  const filters: readonly Partial<MessageSearchFilter>[] = [
    { externalId: text },
    { tag: text },
    { templateId: text },
    ...(messageId === undefined ? [] : [{ messageId }]),
    ...(wholeAddress.test(text) ? [{ address: text }] : []),
  ];
  const isFull = (ids: readonly MessageId[]) => ids.length === range.limit;
  const found: FoundIds[] = [];
  for (const filter of filters) {
    const page = await findMessages(kysely, accountId, {
      ...filter,
      from,
      before: range.before as MessageId,
      limit: range.limit,
    });
    const ids = [...new Set(page.found.map((row) => row.messageId))];
    found.push({ ids, next: isFull(ids) ? ids.at(-1) : page.next });
  }
  if (anyAttribute.test(text)) {
    const ids = (await findAttributed(kysely, accountId, text, range)) as readonly MessageId[];
    found.push({ ids, next: isFull(ids) ? ids.at(-1) : undefined });
  }
  return found;
}

/** The newest of all, as far as every part is complete. */
function mergeFound(parts: readonly FoundIds[]): FoundIds {
  const next = parts
    .flatMap((part) => part.next ?? [])
    .sort()
    .at(-1);
  const ids = [...new Set(parts.flatMap((part) => part.ids))].sort().reverse();
  return { ids: next === undefined ? ids : ids.filter((id) => id >= next), next };
}
