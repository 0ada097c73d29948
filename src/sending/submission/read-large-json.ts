import { randomBytes } from 'node:crypto';
import type { Fault } from '../../base/values/errors.ts';
import { formatBytes, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import { type BodyJson, member, parseBodyText, unusableBody } from './read-body-json.ts';

/** Shorter contents stay in the text. */
const minLiftedBytes = 1_024;

const quote = 0x22;
const backslash = 0x5c;
/** Where a body has the contents of its attachments. */
export interface AttachmentPlaces {
  /** The member of an attachment that has its content. */
  readonly member: string;
  /** The attachments of a body; anything if it isn't well-formed. */
  readonly find: (body: unknown) => unknown;
}

const ownPlaces: AttachmentPlaces = {
  member: 'content',
  find: (body) => member(member(body, 'content'), 'attachments'),
};

/** A body's text without its long `"content"` strings, each replaced by a placeholder. */
interface LiftedText {
  readonly text: string;
  readonly lifted: ReadonlyMap<string, LiftedContent>;
}

interface LiftedContent {
  /** Counts the strings that could be lifted. */
  readonly place: number;
  readonly bytes: Buffer;
}

/**
 * Parses a body that may be large because of its attachments. Their contents are cut out before the JSON is parsed, so it
 * costs no more than that of a small body; what remains has the size limit of one.
 * @param places by default, those of the send body
 * @throws Fault VALIDATION_FAILED if it can't be parsed, or is too large without attachments
 */
export function parseLargeBody(bytes: Buffer, places = ownPlaces): BodyJson {
  const name = Buffer.from(places.member);
  const first = liftContents(bytes, name, new Set());
  const parsed = parseBodyText(first.text);
  const strays = findStrays(parsed.value, places, first.lifted);
  if (strays.size === 0) return withContents(parsed, first.lifted);
  // Strings that are not contents of attachments belong into the text.
  const second = liftContents(bytes, name, strays);
  return withContents(parseBodyText(second.text), second.lifted);
}

function withContents(json: BodyJson, lifted: LiftedText['lifted']): BodyJson {
  return { ...json, contents: new Map([...lifted].map(([name, { bytes }]) => [name, bytes])) };
}

/** The places of lifted strings that aren't the content of an attachment. */
function findStrays(
  value: unknown,
  places: AttachmentPlaces,
  lifted: LiftedText['lifted'],
): ReadonlySet<number> {
  const strays = new Set([...lifted.values()].map(({ place }) => place));
  const attachments = places.find(value);
  if (!Array.isArray(attachments)) return strays;
  for (const attachment of attachments) {
    const content = member(attachment, places.member);
    const found = typeof content === 'string' ? lifted.get(content) : undefined;
    if (found !== undefined) strays.delete(found.place);
  }
  return strays;
}

/**
 * Cuts out the long strings that are values of a member with this name and have no escapes. Stops once the rest is too large, so
 * the time depends on the limit of the rest and not on what the caller sent.
 */
function liftContents(bytes: Buffer, contentName: Buffer, strays: ReadonlySet<number>): LiftedText {
  // Unguessable, so that no text of the caller can stand for a content.
  const nonce = randomBytes(18).toString('base64url');
  const lifted = new Map<string, LiftedContent>();
  const pieces: string[] = [];
  let copied = 0;
  let kept = 0;
  let place = 0;
  let previous: { readonly start: number; readonly end: number } | undefined;
  const checkRest = (end: number): void => {
    if (kept + end - copied > sendBodyBytes) throw tooLargeBeside(bytes);
  };
  for (let open = bytes.indexOf(quote); open !== -1; ) {
    checkRest(open);
    const start = open + 1;
    const end = findEnd(bytes, start, checkRest);
    if (end === undefined) break;
    if (
      end.plain &&
      end.at - start >= minLiftedBytes &&
      previous !== undefined &&
      bytes.subarray(previous.start, previous.end).equals(contentName) &&
      isColon(bytes, previous.end + 1, open)
    ) {
      if (!strays.has(place)) {
        const name = `${nonce}:${place}`;
        lifted.set(name, { place, bytes: bytes.subarray(start, end.at) });
        pieces.push(bytes.toString('utf8', copied, start), name);
        kept += start - copied;
        copied = end.at;
      }
      place += 1;
    }
    previous = { start, end: end.at };
    open = bytes.indexOf(quote, end.at + 1);
  }
  checkRest(bytes.length);
  pieces.push(bytes.toString('utf8', copied));
  return { text: pieces.join(''), lifted };
}

/** The closing quote of a string, and whether the string has no escaped quote; undefined if it has no end. */
function findEnd(
  bytes: Buffer,
  start: number,
  checkRest: (end: number) => void,
): { readonly at: number; readonly plain: boolean } | undefined {
  let plain = true;
  for (let from = start; ; ) {
    const at = bytes.indexOf(quote, from);
    if (at === -1) return undefined;
    let slashes = 0;
    while (at - slashes - 1 >= from && bytes[at - slashes - 1] === backslash) slashes += 1;
    if (slashes % 2 === 0)
      return { at, plain: plain && !bytes.subarray(start, at).includes(backslash) };
    plain = false;
    checkRest(at);
    from = at + 1;
  }
}

function isColon(bytes: Buffer, start: number, end: number): boolean {
  return bytes.toString('latin1', start, end).trim() === ':';
}

function tooLargeBeside(bytes: Buffer): Fault {
  const rest = bytes.includes('"attachments"') ? ' without the contents of its attachments' : '';
  return unusableBody(`the body is larger than ${formatBytes(sendBodyBytes)}${rest}`);
}
