import type { TemplateContent } from '../api/management.generated.ts';

/** A version as a single text, for line-by-line comparison. */
export function describeContent(content: TemplateContent): string {
  const { subject, previewText, html, mjml, text, fields = {}, sender, freshnessMinutes } = content;
  const { images = [] } = content;
  const settings = Object.entries(fields)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, field]) => `field ${name}: ${JSON.stringify(field)}`);
  return [
    `subject: ${subject}`,
    `preview text: ${previewText ?? ''}`,
    `sender: ${sender ?? ''}`,
    `freshness: ${freshnessMinutes ?? ''} min`,
    ...images.map(
      ({ contentId, filename, size, sha256 }) =>
        `image ${contentId}: ${filename}, ${size} bytes, ${sha256.slice(0, 12)}`,
    ),
    ...settings,
    '',
    mjml ?? html ?? '',
    ...(text === undefined ? [] : ['', '--- plain text', text]),
  ].join('\n');
}
