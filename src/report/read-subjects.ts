import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId, TemplateId } from '../foundation/ids.ts';
import { maskedValues } from '../message/mask-values.ts';
import { rawTemplateId } from '../message/raw-message.ts';
import type { LoadedTemplate } from '../rendering/load-template.ts';
import { renderSubject } from '../rendering/render-subject.ts';
import { secretNamesOf } from '../template/secret-names.ts';
import type { TemplateDirectory } from '../template/template-directory.ts';
import { readSubjectSources } from './subject-source-store.ts';

export type SubjectTemplates = Pick<TemplateDirectory<LoadedTemplate>, 'localized' | 'version'>;

/** A message and the version that it was accepted with. */
export interface SubjectRef {
  readonly accountId: AccountId;
  readonly id: MessageId;
  readonly templateId: TemplateId;
  readonly version: number;
}

/** The subject of a message, with secret values masked. */
export interface MessageSubject {
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
  kysely: Database['kysely'],
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
    const template = await templates.localized(accountId, templateId, version, locale ?? undefined);
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
