/** Which attachments are refused. Members are in lower case. */
export interface AttachmentRules {
  /** Without the dot. */
  readonly extensions: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
  /** Refuse content that contradicts its declared type. */
  readonly mismatch: boolean;
}

/** Extensions that mail servers commonly reject because a click runs them. */
const executableExtensions =
  'ade adp apk appx appxbundle bat cab chm class cmd com cpl diagcab dll dmg exe gadget hta img ins inf iso isp jar jnlp js jse lib lnk mde mjs msc msh msi msix msixbundle msp mst nsh pif ps1 psm1 reg scf scr sct sh shb sys url vb vbe vbs vhd vhdx vxd wsc wsf wsh xll';

const executableTypes = [
  'application/hta',
  'application/java-archive',
  'application/java-vm',
  'application/javascript',
  'application/vnd.android.package-archive',
  'application/vnd.microsoft.portable-executable',
  'application/x-apple-diskimage',
  'application/x-bat',
  'application/x-dosexec',
  'application/x-elf',
  'application/x-executable',
  'application/x-iso9660-image',
  'application/x-java-archive',
  'application/x-javascript',
  'application/x-mach-binary',
  'application/x-ms-shortcut',
  'application/x-msdos-program',
  'application/x-msdownload',
  'application/x-msi',
  'application/x-sh',
  'application/x-sharedlib',
  'application/x-shellscript',
  'text/javascript',
  'text/vbscript',
];

export const defaultAttachmentRules: AttachmentRules = {
  extensions: new Set(executableExtensions.split(' ')),
  types: new Set(executableTypes),
  mismatch: true,
};

/**
 * Reads a list of extensions (`.exe`), types, `mismatch` for content that contradicts its type, `default` and `none`.
 * @returns the entry that is none of these, as a string
 */
export function readAttachmentRules(entries: readonly string[]): AttachmentRules | string {
  const extensions = new Set<string>();
  const types = new Set<string>();
  let mismatch = false;
  for (const entry of entries.map((text) => text.toLowerCase())) {
    if (entry === 'none') continue;
    if (entry === 'mismatch') mismatch = true;
    else if (entry === 'default') {
      for (const extension of defaultAttachmentRules.extensions) extensions.add(extension);
      for (const type of defaultAttachmentRules.types) types.add(type);
      mismatch = true;
    } else if (/^\.[\w-]+$/.test(entry)) extensions.add(entry.slice(1));
    else if (/^[\w.+-]+\/[\w.+-]+$/.test(entry)) types.add(entry);
    else return entry;
  }
  return { extensions, types, mismatch };
}

/** Types by the bytes at the start of a content. */
const signatures: readonly (readonly [type: string, at: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/webp', 8, 'WEBPVP8'],
  ['image/tiff', 0, 'II*\0'],
  ['image/tiff', 0, 'MM\0*'],
  ['application/zip', 0, 'PK\x03\x04'],
  ['application/zip', 0, 'PK\x05\x06'],
  ['application/gzip', 0, '\x1f\x8b\x08'],
  ['application/x-7z-compressed', 0, '7z\xbc\xaf\x27\x1c'],
  ['application/vnd.rar', 0, 'Rar!\x1a\x07'],
  ['application/x-ole-storage', 0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  ['application/rtf', 0, '{\\rtf'],
  ['application/x-elf', 0, '\x7fELF'],
  ['application/x-mach-binary', 0, '\xfe\xed\xfa\xce'],
  ['application/x-mach-binary', 0, '\xfe\xed\xfa\xcf'],
  ['application/x-mach-binary', 0, '\xce\xfa\xed\xfe'],
  ['application/x-mach-binary', 0, '\xcf\xfa\xed\xfe'],
  ['application/java-vm', 0, '\xca\xfe\xba\xbe'],
  ['application/x-ms-shortcut', 0, 'L\0\0\0\x01\x14\x02\0'],
  ['application/x-sh', 0, '#!'],
];

/** Readers look for a PDF's header in the first kibibyte (ISO 32000 annex H.3.4.1). */
const maxPdfOffset = 1_024;

/** The type that the content's own bytes show; undefined if they show none. */
export function detectType(content: Buffer): string | undefined {
  const start = content.toString('latin1', 0, maxPdfOffset);
  const found = signatures.find(([, at, bytes]) => start.startsWith(bytes, at));
  if (found !== undefined) return found[0];
  if (isWindowsProgram(content)) return 'application/x-msdownload';
  return start.includes('%PDF-') ? 'application/pdf' : undefined;
}

/** `MZ` alone also begins texts; a program has binary data in its header. */
function isWindowsProgram(content: Buffer): boolean {
  return content.toString('latin1', 0, 2) === 'MZ' && content.subarray(0, 64).includes(0);
}

const zip = ['application/zip'];
const office = ['application/zip', 'application/x-ole-storage', 'application/rtf'];

/** What the content of a declared type must show. */
const expectations: readonly (readonly [declared: RegExp, types: readonly string[]])[] = [
  [/^application\/(x-)?pdf$/, ['application/pdf']],
  [/^image\/(png|gif|webp|tiff)$/, []],
  [/^image\/p?jpe?g$/, ['image/jpeg']],
  [/^application\/(x-)?zip(-compressed)?$/, zip],
  [/^application\/epub\+zip$/, zip],
  [/^application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)$/, zip],
  [/^application\/vnd\.openxmlformats-officedocument\./, office],
  [/^application\/(msword|vnd\.ms-(word|excel|powerpoint)(\.[\w.+-]+)?)$/, office],
  [/^application\/vnd\.ms-outlook$/, ['application/x-ole-storage']],
  [/^application\/(x-)?gzip$/, ['application/gzip']],
  [/^application\/x-7z-compressed$/, []],
  [/^application\/(vnd\.rar|x-rar(-compressed)?)$/, ['application/vnd.rar']],
];

/** Common programs send tables of text or HTML as these, which the programs of the types open. */
const officeOrText = /^application\/(msword|vnd\.ms-(word|excel))$/;

/** Types whose content is text, so nothing binary. */
const textTypes = /^(text\/.*|application\/(json|xml|csv|.*\+(json|xml)))$/;
const textSignatures: ReadonlySet<string> = new Set(['application/x-sh', 'application/rtf']);

/**
 * Why an attachment is refused; undefined if it isn't.
 * @param type in lower case, without parameters
 */
export function findRefusal(
  rules: AttachmentRules,
  filename: string,
  type: string,
  content: Buffer,
): string | undefined {
  const extension = extensionOf(filename);
  if (extension !== undefined && rules.extensions.has(extension))
    return `has the extension .${extension}, which is not allowed; send a link to it`;
  if (rules.types.has(type)) return `has the type ${type}, which is not allowed; send a link to it`;
  const detected = detectType(content);
  if (detected !== undefined && rules.types.has(detected))
    return `has content of the type ${detected}, which is not allowed; send a link to it`;
  if (!rules.mismatch || !contradicts(type, detected)) return undefined;
  if (detected === undefined && officeOrText.test(type) && !content.includes(0)) return undefined;
  return `its content is not ${type}${detected === undefined ? '' : ` but ${detected}`}; correct contentType`;
}

function contradicts(type: string, detected: string | undefined): boolean {
  const expected = expectations.find(([declared]) => declared.test(type));
  if (expected !== undefined)
    return detected !== type && (detected === undefined || !expected[1].includes(detected));
  return textTypes.test(type) && detected !== undefined && !textSignatures.has(detected);
}

/** In lower case. Windows ignores dots and spaces at the end of a name. */
function extensionOf(filename: string): string | undefined {
  let end = filename.length;
  while (end > 0 && /[\s.]/.test(filename.charAt(end - 1))) end -= 1;
  const dot = filename.lastIndexOf('.', end - 1);
  return dot === -1 || end === 0 ? undefined : filename.slice(dot + 1, end).toLowerCase();
}
