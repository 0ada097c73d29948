import { createHash } from 'node:crypto';
import {
  type Locale,
  type SystemMailKind,
  systemAccountId,
} from '../../accounts/notices/system-mail.ts';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { TemplateId } from '../../base/values/ids.ts';
import type { CompiledTemplate } from '../../content/template/compiled-template.ts';
import { compileTemplate } from '../../content/template/template-compiler.ts';
import type { TemplateSource } from '../../content/template/template-source.ts';
import { publishVersion, saveTemplate } from '../../content/template/template-store.ts';
import { builtInTemplate } from './built-in-templates.ts';
import { hasLink, linkField, mailFields, writtenFields } from './mail-fields.ts';
import { lockSystemTemplates, readPublishedSource } from './system-template-store.ts';

/** The id of an operator's template that replaces the built-in ones of a kind. */
export function replacementId(kind: SystemMailKind): TemplateId {
  return kind as string as TemplateId;
}

/** Seconds after which a password link is no longer worth delivering. */
const passwordLinkFreshnessSeconds = 30 * 60;
const defaultFreshnessSeconds = 24 * 3600;

/** Publishes the built-in template of a kind and language unless it is published already. @returns its id */
export async function publishBuiltIn(
  database: Database,
  kind: SystemMailKind,
  locale: Locale,
): Promise<TemplateId> {
  const templateId = `${kind}-${locale}` as TemplateId;
  const source = builtInTemplate(kind, locale);
  const contentHash = hashOf(source);
  const isPublished = async (kysely: Kysely) =>
    (await readPublishedSource(kysely, templateId))?.hash.equals(contentHash) === true;
  if (await isPublished(database.kysely)) return templateId;
  const { compiled, problems } = await compileTemplate(source);
  if (compiled === null)
    throw new Error(
      `the built-in template ${templateId} has problems: ${JSON.stringify(problems)}`,
    );
  await database.kysely.transaction().execute(async (transaction) => {
    await lockSystemTemplates(transaction);
    // Another node may have been faster.
    if (await isPublished(transaction)) return;
    await publish(transaction, kind, templateId, source, compiled);
  });
  return templateId;
}

/** Publishes an operator's template that replaces a kind's built-in ones. */
export async function publishReplacement(
  transaction: Kysely,
  kind: SystemMailKind,
  source: TemplateSource,
  compiled: CompiledTemplate,
): Promise<void> {
  await lockSystemTemplates(transaction);
  await publish(transaction, kind, replacementId(kind), source, compiled);
}

async function publish(
  transaction: Kysely,
  kind: SystemMailKind,
  id: TemplateId,
  source: TemplateSource,
  compiled: CompiledTemplate,
): Promise<void> {
  const accountId = systemAccountId;
  await saveTemplate(transaction, { accountId, id, name: id, createdBy: undefined });
  await publishVersion(transaction, {
    accountId,
    templateId: id,
    contentHash: hashOf(source),
    senderAddress: undefined,
    freshnessSeconds:
      kind === 'password-link' ? passwordLinkFreshnessSeconds : defaultFreshnessSeconds,
    source,
    compiled,
  });
}

function hashOf(source: TemplateSource): Buffer {
  return createHash('sha256').update(JSON.stringify(source)).digest();
}

/** An operator's text for a kind of email, ready to publish. */
interface Replacement {
  readonly source: TemplateSource;
  readonly compiled: CompiledTemplate;
}

/**
 * Compiles an operator's replacement for a kind of email. The field settings aren't up to the author: the link is
 * always secret, and so never tracked.
 */
export async function compileReplacement(
  kind: SystemMailKind,
  text: Omit<TemplateSource, 'fields'>,
): Promise<Replacement | { readonly errors: readonly FaultDetail[] }> {
  const fields = mailFields[kind];
  const source = { ...text, fields };
  const { compiled, problems } = await compileTemplate(source);
  const errors: FaultDetail[] = problems
    .filter(({ severity }) => severity === 'error')
    .map(({ part, message }) => ({ field: part, reason: message }));
  if (compiled === null) return { errors };
  for (const { name, parts } of compiled.fields) {
    if (!Object.hasOwn(fields, name))
      errors.push({ field: parts[0] ?? 'subject', reason: `uses the unknown field ${name}` });
    const line = parts.find((part) => part === 'subject' || part === 'previewText');
    if (line !== undefined && name === linkField)
      errors.push({ field: 'subject', reason: `shows the field ${linkField}, which is secret` });
    if (line !== undefined && writtenFields.has(name))
      errors.push({
        field: line,
        reason: `shows the field ${name}, which people of an account write; use it in the body`,
      });
  }
  const uses = compiled.fields.find(({ name }) => name === linkField)?.parts ?? [];
  for (const part of ['html', 'text'] as const) {
    if (hasLink(kind) && compiled[part] !== null && !uses.includes(part))
      errors.push({ field: part, reason: `must use the field ${linkField}` });
  }
  return errors.length > 0 ? { errors } : { source, compiled };
}
