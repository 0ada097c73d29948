import type { FaultDetail } from '../../base/values/errors.ts';

/** RFC 5322 section 2.1.1, without the line break. */
const maxLineOctets = 998;
/** Any line that starts with the name has room for an encoded word's text on the next one. */
export const maxHeaderName = 76;
export const maxCustomHeaders = 20;
export const maxHeaderValue = maxLineOctets;

/** In lower case; `*` at the end matches anything. This and other services act on these. */
const reservedNames = [
  'x-signalpost-*',
  'x-smtpapi',
  'x-ses-*',
  'x-pm-*',
  'x-mailgun-*',
  'x-mc-*',
  'x-msys-*',
];
/** The service writes these itself, with the recipient's token. */
const unsubscribeNames = ['list-unsubscribe', 'list-unsubscribe-post'];

const usableName = /^(?:(?:x|list)-[a-z0-9._-]+|references|in-reply-to|importance|feedback-id)$/;
const messageIds = /^<[^\s<>@]+@[^\s<>@]+>(?: +<[^\s<>@]+@[^\s<>@]+>)*$/;
const printable = /^[ -~]*$/;
/** Also the separators that some programs treat as line breaks. */
const controlCharacters = /[\p{Cc}\u2028\u2029]/u;

export const controlCharacterReason = 'must not contain control characters or line breaks';

export function hasControlCharacter(text: string): boolean {
  return controlCharacters.test(text);
}

/** Decides which headers of a request are written into its message. */
export class CustomHeaderRules {
  readonly #refused: readonly string[];

  /** @param refused more reserved names, with `*` at the end of a prefix */
  constructor(refused: readonly string[] = []) {
    this.#refused = [...reservedNames, ...refused.map((name) => name.toLowerCase())];
  }

  /** Trimmed headers by name; adds every problem to `details`. @param headers within the limits of the schema */
  read(
    headers: Readonly<Record<string, string>>,
    details: FaultDetail[],
  ): Readonly<Record<string, string>> | undefined {
    const names = new Set<string>();
    const read: [string, string][] = [];
    for (const [name, text] of Object.entries(headers)) {
      const value = trimSpaces(text);
      const lower = name.toLowerCase();
      const reason = names.has(lower)
        ? 'is given twice; upper and lower case are the same'
        : (this.#nameProblem(lower) ?? valueProblem(lower, value));
      names.add(lower);
      read.push([name, value]);
      if (reason !== undefined) details.push({ field: `content.headers.${name}`, reason });
    }
    return read.length === 0 ? undefined : Object.fromEntries(read);
  }

  /** True for headers that this or another service acts on. @param name in lower case */
  isReserved(name: string): boolean {
    return this.#refused.some((refused) =>
      refused.endsWith('*') ? name.startsWith(refused.slice(0, -1)) : name === refused,
    );
  }

  #nameProblem(name: string): string | undefined {
    if (unsubscribeNames.includes(name)) return 'is set by the service; remove it';
    if (!usableName.test(name))
      return 'can’t be set; use X-…, List-…, References, In-Reply-To, Importance or Feedback-ID';
    return this.isReserved(name) ? 'is reserved; use another name' : undefined;
  }
}

function valueProblem(name: string, value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if (hasControlCharacter(value)) return controlCharacterReason;
  if (name.length + 2 + Buffer.byteLength(value) > maxLineOctets)
    return `must not be longer than ${maxLineOctets} octets together with its name`;
  // Only X- headers are free text, in which non-ASCII can be encoded (RFC 2047 section 5).
  if (!name.startsWith('x-') && !printable.test(value)) return 'must be printable ASCII';
  if ((name === 'references' || name === 'in-reply-to') && !messageIds.test(value))
    return 'must be message IDs separated by spaces, such as <a@example.com> <b@example.com>';
  return undefined;
}

function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
}
