import type { FaultDetail } from '../foundation/errors.ts';
import type { SystemMailKind } from '../outbox/system-mail.ts';
import { compileTemplate } from '../template/compile-template.ts';
import type { CompiledTemplate } from '../template/compiled-template.ts';
import type { TemplateSource } from '../template/template-source.ts';
import { hasLink, linkField, mailFields, writtenFields } from './mail-fields.ts';

/** An operator's text for a kind of email, ready to publish. */
export interface Replacement {
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
