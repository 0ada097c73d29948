import type { TemplateUsage } from '../../feedback/template-usage/template-usage-store.ts';
import type { RequiredNames } from '../../template/compiled-template.ts';

/** A way of calling that a version would refuse. */
interface BrokenUsage {
  /** Fields that the version needs and the caller does not give. */
  readonly missing: readonly string[];
  readonly lastAt: Date;
  readonly lastMessageId: string;
}

/**
 * The calls that a version would answer with a Personalization Failure (section 4.3 rule 3). A request with a subject
 * line or preview text of its own does not need the fields of the template's.
 */
export function findBrokenUsage(
  required: RequiredNames,
  calls: readonly TemplateUsage[],
): BrokenUsage[] {
  return calls.flatMap((call) => {
    const given = new Set(call.fields);
    const needed = new Set([
      ...required.body,
      ...(call.ownSubject ? [] : required.subject),
      ...(call.ownPreview ? [] : required.previewText),
    ]);
    const missing = [...needed].filter((name) => !given.has(name));
    const { lastAt, lastMessageId } = call;
    return missing.length === 0 ? [] : [{ missing, lastAt, lastMessageId }];
  });
}
