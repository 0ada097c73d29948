import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, MessageId, TemplateId } from '../../base/values/ids.ts';
import { maskedValues } from '../../content/message/mask-values.ts';
import type { StoredContent } from '../../content/message/message-content.ts';
import { contentMembers } from '../../content/message/message-sql.ts';
import { rawTemplateId } from '../../content/message/raw-message.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import { renderSubject } from '../../content/rendering/render-subject.ts';
import { secretNamesOf } from '../../content/template/secret-names.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';

type SubjectTemplates = Pick<TemplateDirectory<LoadedTemplate>, 'localized' | 'version'>;

/** A message and the version that it was accepted with. */
export interface SubjectRef {
  readonly accountId: AccountId;
  readonly id: MessageId;
  readonly templateId: TemplateId;
  readonly version: number;
}

/** The subject of a message, with secret values masked. */
interface MessageSubject {
  readonly text: string;
  /** Whose subject line it is; undefined if the request had its own. */
  readonly template: LoadedTemplate | undefined;
}

/** Characters shown of a subject, as in its mail. */
const maxShownLength = 998;
/** After so long, the rest of the process gets a turn: a subject takes milliseconds if its values are large. */
const turnMs = 10;

/** The subjects of messages by ID; none where what a subject depends on has been erased. */
export async function readSubjects(
  kysely: Kysely,
  templates: SubjectTemplates,
  refs: readonly SubjectRef[],
): Promise<ReadonlyMap<MessageId, MessageSubject>> {
  const subjects = new Map<MessageId, MessageSubject>();
  if (refs.length === 0) return subjects;
  const names = new Map<string, readonly string[]>();
  for (const ref of distinctVersions(refs)) {
    const template = await templates.version(ref.accountId, ref.templateId, ref.version);
    names.set(keyOf(ref), subjectFields(template));
  }
  const sources = await readSubjectSources(
    kysely,
    refs.map((ref) => ({
      accountId: ref.accountId,
      id: ref.id,
      names: names.get(keyOf(ref)) ?? [],
    })),
  );
  const refsById = new Map(refs.map((ref) => [ref.id, ref]));
  // A directory that can't trust its cache, or doesn't find a version, asks the database: once for each, not for each message.
  const localized = new Map<string, LoadedTemplate | undefined>();
  let turnStartedAt = performance.now();
  for (const source of sources) {
    const ref = refsById.get(source.id);
    if (ref === undefined || source.erased) continue;
    if (performance.now() - turnStartedAt > turnMs) {
      await nextTurn();
      turnStartedAt = performance.now();
    }
    const { locale, subjectLine } = source;
    const { accountId, templateId, version } = ref;
    if (templateId === rawTemplateId) {
      const text = subjectLine?.slice(0, maxShownLength) ?? '';
      subjects.set(source.id, { text, template: undefined });
      continue;
    }
    const key = `${keyOf(ref)}/${locale}`;
    if (!localized.has(key))
      localized.set(
        key,
        await templates.localized(accountId, templateId, version, locale ?? undefined),
      );
    const template = localized.get(key);
    if (template === undefined) continue;
    const { fields } = template.compiled;
    const secret = new Set(secretNamesOf(template.compiled));
    const input = {
      values: maskedValues(source, secret, fields),
      locale: locale ?? undefined,
      subjectLine: subjectLine ?? undefined,
    };
    subjects.set(source.id, {
      text: renderSubject(template, input).slice(0, maxShownLength),
      template: subjectLine === null ? template : undefined,
    });
  }
  return subjects;
}

function subjectFields(template: LoadedTemplate | undefined): string[] {
  const fields = template?.compiled.fields ?? [];
  return fields.filter(({ parts }) => parts.includes('subject')).map(({ name }) => name);
}

function distinctVersions<Ref extends Omit<SubjectRef, 'id'>>(refs: readonly Ref[]): Ref[] {
  return [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()];
}

function keyOf({ accountId, templateId, version }: Omit<SubjectRef, 'id'>): string {
  return `${accountId}/${templateId}/${version}`;
}

/** A message whose subject is read, with the fields that the subject of its version uses. */
interface SubjectRequest {
  readonly accountId: AccountId;
  readonly id: MessageId;
  readonly names: readonly string[];
}

/** What the subject of a message is rendered from. */
interface SubjectSource extends Pick<StoredContent, 'values'> {
  readonly id: MessageId;
  readonly subjectLine: string | null;
  readonly locale: string | null;
  /** What the subject depends on has been erased. */
  readonly erased: boolean;
}

/** Longer texts fill the subject anyway, and longer lists aren't worth reading for it. */
const maxTextLength = 1_000;
const maxListLength = 16_384;

/** The sources of subjects, in any order; none for messages whose content was erased. */
async function readSubjectSources(
  kysely: Kysely,
  requests: readonly SubjectRequest[],
): Promise<SubjectSource[]> {
  return await allRows<SubjectSource>(kysely)`
    select m.id, c."subjectLine" #>> '{}' as "subjectLine", c.locale #>> '{}' as locale,
      coalesce(c.erased::jsonb ?| array['values', 'subjectLine'], false) as erased, coalesce(given.values, '{}') as values
    from json_to_recordset(${JSON.stringify(requests)}::json) as r ("accountId" text, id uuid, names text[])
    join message m on m.account_id = r."accountId" and m.id = r.id
    cross join lateral ${sql.raw(contentMembers('m', 'c', ['subjectLine', 'locale', 'values', 'erased']))}
    left join lateral (
      select json_object_agg(v.key, case json_typeof(v.value)
        when 'string' then to_json(left(v.value #>> '{}', ${maxTextLength})) else v.value end) as values
      from json_each(c.values) as v
      where (v.key = any(r.names) or position(v.key in c."subjectLine" #>> '{}') > 0)
        and (json_typeof(v.value) in ('string', 'null') or length(v.value::text) <= ${maxListLength})) as given on true
    where m.content is not null`;
}
