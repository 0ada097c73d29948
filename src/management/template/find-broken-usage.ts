import type { TemplateUsage } from '../../feedback/template-usage/template-usage-store.ts';
import type { RequiredNames } from '../../template/compiled-template.ts';

/** Recent usage that a version would reject. */
interface BrokenUsage {
  /** Required fields the caller doesn't supply. */
  readonly missing: readonly string[];
  readonly lastAt: Date;
  readonly lastMessageId: string;
}

/**
 * Finds recent usage that a version would answer with a Personalization Failure (section 4.3 rule 3). Requests that
 * override the subject or preview text don't need the fields in the template's own.
 */
export function findBrokenUsage(
  required: RequiredNames,
  calls: readonly TemplateUsage[],
): BrokenUsage[] {
  return calls.flatMap((call) => {
    const supplied = new Set(call.fields);
    const needed = new Set([
      ...required.body,
      ...(call.ownSubject ? [] : required.subject),
      ...(call.ownPreview ? [] : required.previewText),
    ]);
    const missing = [...needed].filter((name) => !supplied.has(name));
    const { lastAt, lastMessageId } = call;
    return missing.length === 0 ? [] : [{ missing, lastAt, lastMessageId }];
  });
}
