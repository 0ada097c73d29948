import type { FaultDetail } from '../foundation/errors.ts';
import type { SystemMailKind } from '../outbox/system-mail.ts';
import { compileTemplate } from '../template/compile-template.ts';
import type { CompiledTemplate } from '../template/compiled-template.ts';
import type { TemplateSource } from '../template/template-source.ts';
import { hasLink, linkField, mailFields } from './mail-fields.ts';

/** A text that an operator wrote for a kind of mail, ready to be published. */
export interface Replacement {
  readonly source: TemplateSource;
  readonly compiled: CompiledTemplate;
}

/**
 * Compiles the text that is to replace a kind of mail. What its fields are is not the writer's to say: a link is secret,
 * whatever the text is, and so is never tracked.
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
    if (name === linkField && parts.some((part) => part === 'subject' || part === 'previewText'))
      errors.push({ field: 'subject', reason: `shows the field ${linkField}, which is secret` });
  }
  const uses = compiled.fields.find(({ name }) => name === linkField)?.parts ?? [];
  for (const part of ['html', 'text'] as const) {
    if (hasLink(kind) && compiled[part] !== null && !uses.includes(part))
      errors.push({ field: part, reason: `must use the field ${linkField}` });
  }
  return errors.length > 0 ? { errors } : { source, compiled };
}
