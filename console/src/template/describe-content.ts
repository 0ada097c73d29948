import type { TemplateContent, TemplateVariant } from '../api/management.generated.ts';

/** A version as a single text, for line-by-line comparison. */
export function describeContent(content: TemplateContent): string {
  const { fields = {}, sender, freshnessMinutes, locale, variants = {}, images = [] } = content;
  const settings = Object.entries(fields)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, field]) => `field ${name}: ${JSON.stringify(field)}`);
  return [
    ...describeParts(content).slice(0, 2),
    `sender: ${sender ?? ''}`,
    `freshness: ${freshnessMinutes ?? ''} min`,
    ...(locale === undefined ? [] : [`locale: ${locale}`]),
    ...images.map(
      ({ contentId, filename, size, sha256 }) =>
        `image ${contentId}: ${filename}, ${size} bytes, ${sha256.slice(0, 12)}`,
    ),
    ...settings,
    ...describeParts(content).slice(2),
    ...Object.entries(variants)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .flatMap(([name, variant]) => ['', `--- variant ${name}`, ...describeParts(variant)]),
  ].join('\n');
}

/** Subject and preview text, then the bodies. */
function describeParts({ subject, previewText, html, mjml, text }: TemplateVariant): string[] {
  return [
    `subject: ${subject}`,
    `preview text: ${previewText ?? ''}`,
    '',
    mjml ?? html ?? '',
    ...(text === undefined ? [] : ['', '--- plain text', text]),
  ];
}
