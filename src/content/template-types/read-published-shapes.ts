import type { ManagementConnection } from './management-connection.ts';
import { type FieldShape, requestFields, type TemplateShape } from './template-shape.ts';

/** Requests at the same time. */
const parallelReads = 4;

interface ListedTemplate {
  readonly id: string;
  readonly publishedVersion: number | null;
}

interface VersionAnswer {
  readonly fields: readonly FieldShape[];
  readonly content: {
    readonly locale?: string;
    readonly variants?: Readonly<Record<string, unknown>>;
  };
}

/** The published templates of an account. @throws TypesFailure */
export async function readPublishedShapes(service: ManagementConnection): Promise<TemplateShape[]> {
  const published: { id: string; version: number }[] = [];
  for await (const item of service.list('/templates')) {
    const { id, publishedVersion } = item as ListedTemplate;
    if (publishedVersion !== null) published.push({ id, version: publishedVersion });
  }
  const shapes: TemplateShape[] = [];
  const next = published.values();
  const read = async (): Promise<void> => {
    for (const { id, version } of next) {
      const path = `/templates/${encodeURIComponent(id)}/versions/${version}`;
      const { fields, content } = (await service.call('GET', path)).body as VersionAnswer;
      shapes.push({ id, fields: requestFields(fields), locales: localesOf(content) });
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, read));
  return shapes;
}

/** The language of content that doesn't name its own. */
const defaultLocale = 'en-US';

/** The languages of content with variants, its own first; none if none is named. */
export function localesOf({
  locale,
  variants = {},
}: {
  readonly locale?: string | undefined;
  readonly variants?: Readonly<Record<string, unknown>> | undefined;
}): string[] {
  const others = Object.keys(variants);
  if (locale === undefined && others.length === 0) return [];
  return [locale ?? defaultLocale, ...others];
}
