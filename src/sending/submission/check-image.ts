import type { TemplateImage } from '../../content/template/template-source.ts';
import { detectType } from './attachment-types.ts';
import { contentIdPattern, unsafeName } from './read-attachments.ts';

/** Images that mail clients show and that contain no scripts, with the extensions of their files. */
const extensionsByType: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/gif': ['gif'],
  'image/webp': ['webp'],
};

export const imageTypes = Object.keys(extensionsByType);

/** An image of a template as someone gives it, and what its content shows. */
export interface GivenImage {
  readonly contentId: string;
  readonly filename?: string | undefined;
  readonly contentType?: string | undefined;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** The content, or at least its first 64 bytes. */
  readonly start: Buffer;
}

/**
 * Checks an image of a template and fills in its name and type.
 * @param report called with the member and what is wrong with it
 */
export function checkImage(
  { contentId, filename, contentType, size, sha256, start }: GivenImage,
  report: (member: string, reason: string) => void,
): TemplateImage {
  const detected = detectType(start);
  const type = contentType?.toLowerCase() ?? detected ?? '';
  const extensions = extensionsByType[type];
  const name = filename ?? `${contentId}.${extensions?.[0] ?? ''}`;
  if (!contentIdPattern.test(contentId))
    report('contentId', 'must be ASCII letters, digits and . _ - without spaces or brackets');
  if (contentType !== undefined && extensions === undefined)
    report('contentType', `must be one of ${imageTypes.join(', ')}`);
  else if (detected === undefined || extensions === undefined)
    report('content', `is not one of ${imageTypes.join(', ')}`);
  else if (detected !== type)
    report('contentType', `its content is not ${type} but ${detected}; correct contentType`);
  if (unsafeName.test(name) || name.trim() === '')
    report('filename', 'must not be blank or contain slashes, control or direction characters');
  else if (extensions !== undefined && !hasExtension(name, extensions))
    report(
      'filename',
      `must end in ${extensions.map((extension) => `.${extension}`).join(' or ')}`,
    );
  return { contentId, filename: name, contentType: type, size, sha256 };
}

function hasExtension(name: string, extensions: readonly string[]): boolean {
  return extensions.some((extension) => name.toLowerCase().endsWith(`.${extension}`));
}
