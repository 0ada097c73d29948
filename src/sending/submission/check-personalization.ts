import { Fault } from '../../base/values/errors.ts';
import type { CompiledTemplate } from '../../content/template/compiled-template.ts';
import { missingFields } from '../../content/template/template-fields.ts';
import { limitDetails } from './describe-body-problems.ts';
import type { ParsedSendRequest } from './send-request.ts';

/**
 * Section 4.3 rule 3: every field needs a value in the request or a default in the template. An overridden subject line
 * or preview text replaces the template's fields with its own.
 * @throws Fault PERSONALIZATION_FAILURE naming each missing field
 */
export function checkPersonalization(template: CompiledTemplate, request: ParsedSendRequest): void {
  const missing = missingFields(template, request.values, {
    subjectLine: request.subjectLine?.parsed,
    previewText: request.previewText?.parsed,
  });
  if (missing.length === 0) return;
  const details = missing.map((name) => ({
    field: `content.personalizationDataMap.${name}`,
    reason: 'has no value, and the template gives no default',
  }));
  throw new Fault('PERSONALIZATION_FAILURE', { details: limitDetails(details) });
}
