import { createHash } from 'node:crypto';
import type { TemplateId } from '../../base/values/ids.ts';
import type { AttachmentContent } from '../../content/message/attachment-store.ts';
import { guardDaysOf, isSecretField } from '../../content/template/guarded-field.ts';
import { MAX_IMAGE_BYTES } from '../../content/template/template-limits.ts';
import type {
  FieldSettings,
  TemplateImage,
  TemplateSource,
  VariantSource,
} from '../../content/template/template-source.ts';
import { checkImage } from '../../sending/submission/check-image.ts';
import { decodeBase64 } from '../../sending/submission/decode-base64.ts';
import type { ManifestTemplate, SourceFiles } from './manifest.ts';
import type { ManifestPath } from './manifest-problems.ts';
import type { RawImage, RawTemplate } from './manifest-schema.ts';
import { type BuildContext, checkText, parseManifestAddress } from './read-values.ts';

/** Max bytes of a template file; compiling limits its characters. */
const maxPartBytes = 2 * 1024 * 1024;

/** Default freshness of the send operation: 15 minutes. */
const defaultFreshnessMinutes = 15;

/** Builds a template from its entry and the content of its files. */
export async function buildTemplate(
  raw: RawTemplate,
  path: ManifestPath,
  context: BuildContext,
): Promise<ManifestTemplate> {
  const { problems } = context;
  const images = await buildImages(raw.images ?? [], [...path, 'images'], context);
  const source = { ...(await readSource(raw, path, context)), ...images.member };
  const sender =
    raw.sender === undefined
      ? undefined
      : parseManifestAddress(raw.sender, [...path, 'sender'], problems);
  const freshnessSeconds = (raw.freshnessMinutes ?? defaultFreshnessMinutes) * 60;
  return {
    path,
    id: raw.id as TemplateId,
    name: checkText(raw.name, [...path, 'name'], problems),
    createdBy: parseManifestAddress(raw.createdBy, [...path, 'createdBy'], problems),
    sender,
    freshnessSeconds,
    whenUncertain: raw.whenUncertain,
    source,
    imageContents: images.contents,
    files: filesOf(raw),
    variantFiles: Object.fromEntries(
      Object.entries(raw.variants ?? {}).map(([locale, variant]) => [locale, filesOf(variant)]),
    ),
    contentHash: hashContent(source, sender, freshnessSeconds),
  };
}

type RawContent = Pick<RawTemplate, 'subject' | 'previewText' | 'html' | 'mjml' | 'text'>;

function filesOf(raw: RawContent): SourceFiles {
  const parts = (['html', 'mjml', 'text'] as const).map((part) => [part, raw[part]] as const);
  return Object.fromEntries(
    parts.flatMap(([part, value]) => (typeof value === 'object' ? [[part, value.file]] : [])),
  );
}

async function readSource(
  raw: RawTemplate,
  path: ManifestPath,
  context: BuildContext,
): Promise<TemplateSource> {
  const { locale, fields = {}, variants = {} } = raw;
  const read: [string, VariantSource][] = [];
  for (const [name, variant] of Object.entries(variants))
    read.push([name, await readContent(variant, [...path, 'variants', name], context)]);
  return {
    ...(await readContent(raw, path, context)),
    fields,
    ...(locale === undefined ? {} : { locale }),
    ...(read.length === 0 ? {} : { variants: Object.fromEntries(read) }),
  };
}

async function readContent(
  raw: RawContent,
  path: ManifestPath,
  context: BuildContext,
): Promise<VariantSource> {
  const part = async (name: 'html' | 'mjml' | 'text'): Promise<Partial<VariantSource>> => {
    const value = raw[name];
    if (value === undefined) return {};
    return { [name]: await readPart(value, [...path, name], context) };
  };
  const source = {
    subject: raw.subject,
    ...(raw.previewText === undefined ? {} : { previewText: raw.previewText }),
    ...(await part('html')),
    ...(await part('mjml')),
    ...(await part('text')),
  };
  return withLineFeeds(source);
}

async function readPart(
  value: string | { readonly file: string },
  path: ManifestPath,
  { files, problems }: BuildContext,
): Promise<string> {
  if (typeof value === 'string') return value;
  const text = await files.text(value.file, maxPartBytes);
  if (typeof text === 'string') return text;
  problems.add(path, `${value.file} ${text.reason}`);
  return '';
}

/** Normalizes line endings, so a checkout with CRLF doesn't count as new content. */
function withLineFeeds(source: VariantSource): VariantSource {
  const clean = Object.entries(source).map(([name, value]: [string, string]) => [
    name,
    value.replace(/\r\n?/g, '\n'),
  ]);
  return Object.fromEntries(clean) as VariantSource;
}

/** SHA-256 over everything that defines a version, in a fixed order. */
function hashContent(
  source: TemplateSource,
  sender: string | undefined,
  freshnessSeconds: number,
): Buffer {
  const { fields = {}, locale, variants = {}, images = [] } = source;
  const sorted = sortedFields(fields);
  const translated = Object.entries(variants)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, variant]) => [name, ...partsOf(variant)]);
  // Templates in one language, and those without images, keep the hash that they had before there were others.
  const languages = locale === undefined && translated.length === 0 ? [] : [locale, translated];
  const content = [
    ...partsOf(source),
    sorted,
    sender,
    freshnessSeconds,
    ...languages,
    ...(images.length === 0 ? [] : [{ images: images.map(membersOf) }]),
  ];
  return createHash('sha256')
    .update(JSON.stringify(content.map((part) => part ?? null)))
    .digest();
}

function partsOf({ subject, previewText, html, mjml, text }: VariantSource): unknown[] {
  return [subject, previewText, html, mjml, text].map((part) => part ?? null);
}

function membersOf({ contentId, filename, contentType, sha256 }: TemplateImage): unknown[] {
  return [contentId, filename, contentType, sha256];
}

function settingsOf(settings: FieldSettings): unknown[] {
  const { default: value = null, sample = null, description = null } = settings;
  const { kind = 'text', fields } = settings;
  // Texts keep the hash that they had before there were other kinds, and other fields the one before some were guarded.
  const structure = kind === 'text' && fields === undefined ? [] : [kind, sortedFields(fields)];
  const days = guardDaysOf(settings);
  const guard = days === undefined ? [] : [{ guardDays: days }];
  return [value, sample, description, isSecretField(settings), ...structure, ...guard].map(
    sortKeys,
  );
}

function sortedFields(fields: FieldSettings['fields'] = {}): unknown[] {
  return Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, settings]) => [name, ...settingsOf(settings)]);
}

/** The database doesn't keep the order of an object's members. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, inner]) => [name, sortKeys(inner)]);
}

/** Images of a template; `member` is that of its source, which has none if there are no images. */
interface BuiltImages {
  readonly member: { readonly images?: readonly TemplateImage[] };
  readonly contents: readonly AttachmentContent[];
}

/** Builds the images of a template from their entries and files. Those of a draft are checked and stored already. */
async function buildImages(
  raw: readonly RawImage[],
  path: ManifestPath,
  context: BuildContext,
): Promise<BuiltImages> {
  const images: TemplateImage[] = [];
  const contents: AttachmentContent[] = [];
  for (const [index, image] of raw.entries()) {
    if ('sha256' in image) {
      images.push(image);
      continue;
    }
    const at = [...path, index];
    const found = await readImageContent(image.content, at, context);
    if (found === undefined) continue;
    const { sha256, content } = found;
    const report = (member: string, reason: string) =>
      context.problems.add([...at, member], reason);
    const given = { ...image, size: content.length, sha256, start: content };
    images.push(checkImage(given, report));
    contents.push(found);
  }
  const problem = findImageProblem(images);
  if (problem?.index !== undefined)
    context.problems.add([...path, problem.index, 'contentId'], problem.reason);
  else if (problem !== undefined) context.problems.add(path, problem.reason);
  return { member: images.length === 0 ? {} : { images }, contents };
}

/** The first problem of images together; without an index, it is one of the whole list. */
export function findImageProblem(
  images: readonly Pick<TemplateImage, 'contentId' | 'size'>[],
): { readonly index?: number; readonly reason: string } | undefined {
  const ids = images.map(({ contentId }) => contentId);
  const index = ids.findIndex((id, at) => ids.indexOf(id) < at);
  if (index !== -1) return { index, reason: 'is used by another image' };
  const bytes = images.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= MAX_IMAGE_BYTES) return undefined;
  return {
    reason: `must not be larger than ${MAX_IMAGE_BYTES} bytes together; use smaller images`,
  };
}

async function readImageContent(
  value: string | { readonly file: string },
  at: ManifestPath,
  { files, problems }: BuildContext,
): Promise<AttachmentContent | undefined> {
  const path = [...at, 'content'];
  if (typeof value === 'string') {
    const decoded = await decodeBase64(value);
    if (decoded === undefined)
      problems.add(path, 'is not base64 (RFC 4648, with padding and without line breaks)');
    return decoded;
  }
  const content = await files.bytes(value.file, MAX_IMAGE_BYTES);
  if ('reason' in content) {
    problems.add(path, `${value.file} ${content.reason}`);
    return undefined;
  }
  return { content, sha256: createHash('sha256').update(content).digest('hex') };
}
