import { Fault } from '../../base/values/errors.ts';
import { findOversizedPart } from '../../content/template/size-bounds.ts';
import { MAX_RENDERED_TEXT } from '../../content/template/template-limits.ts';
import { limitDetails } from './describe-body-problems.ts';
import type { SendableTemplate } from './send-dependencies.ts';
import type { ParsedSendRequest } from './send-request.ts';

/**
 * Rejects values certain to make the message too large, because after the 200 the caller would not find out.
 * @param bodyLength size of the request body in bytes, values included
 * @throws Fault VALIDATION_FAILED naming the largest field
 */
export function checkRenderedSize(
  template: SendableTemplate,
  { values }: ParsedSendRequest,
  bodyLength: number,
): void {
  const found = findOversizedPart(template.compiled, template.size, values, bodyLength);
  if (found === undefined) return;
  const { part, field, uses, structured } = found;
  const advice = structured
    ? 'send fewer items or shorter values'
    : `the template uses it ${uses} times; send a shorter value`;
  const detail =
    field === undefined
      ? { field: 'templateId', reason: `its ${part} is larger than ${MAX_RENDERED_TEXT}` }
      : {
          field: `content.personalizationDataMap.${field}`,
          reason: `makes the ${part} larger than ${MAX_RENDERED_TEXT}: ${advice}`,
        };
  throw new Fault('VALIDATION_FAILED', { details: limitDetails([detail]) });
}
