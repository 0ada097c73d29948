import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SignedTokens } from '../../base/secrets/signed-tokens.ts';
import {
  ByteReader,
  readMessage,
  type TrackedMessage,
  writeMessage,
} from '../../base/values/byte-fields.ts';
import type { TemplateId } from '../../base/values/ids.ts';

/** All data of a tracked link; there is no table row behind it. */
export interface TrackedLink extends TrackedMessage {
  readonly templateId: TemplateId;
  readonly templateVersion: number;
  /** The message's locale, if the version has variants; each has its own table of links. */
  readonly locale?: string | undefined;
  /** The link's index in the version's table; undefined for the hidden link. */
  readonly index: number | undefined;
  /**
   * Values in its URL, in the order of the link's fields; undefined for the template's default. Of a message that was submitted
   * complete, the whole target.
   */
  readonly values: readonly (string | undefined)[];
}

/** Precedes a locale; values are marked with 0 and 1. */
const localeMark = 2;

/** Makes and reads the tokens of tracked links and open pixels. */
export class TrackingTokens {
  readonly #links: SignedTokens;
  readonly #opens: SignedTokens;

  constructor(key: MasterKey) {
    this.#links = new SignedTokens(key.keysFor('tracked link'));
    this.#opens = new SignedTokens(key.keysFor('open image'));
  }

  makeLink(link: TrackedLink): string {
    const writer = writeMessage(link)
      .text(link.templateId)
      .number(link.templateVersion)
      .number(link.index === undefined ? 0 : link.index + 1);
    if (link.locale !== undefined) writer.number(localeMark).text(link.locale);
    for (const value of link.values) {
      if (value === undefined) writer.number(0);
      else writer.number(1).text(value);
    }
    return this.#links.make(writer.finish());
  }

  /** A link token's data; undefined if it wasn't made here. */
  readLink(token: string): TrackedLink | undefined {
    return read(this.#links, token, (reader) => {
      const message = readMessage(reader);
      const templateId = reader.text() as TemplateId;
      const templateVersion = reader.number();
      const indexPlusOne = reader.number();
      const values: (string | undefined)[] = [];
      let locale: string | undefined;
      while (!reader.done) {
        const mark = reader.number();
        if (mark === localeMark) locale = reader.text();
        else values.push(mark === 0 ? undefined : reader.text());
      }
      const index = indexPlusOne === 0 ? undefined : indexPlusOne - 1;
      return { ...message, templateId, templateVersion, locale, index, values };
    });
  }

  makeOpen(message: TrackedMessage): string {
    return this.#opens.make(writeMessage(message).finish());
  }

  /** The message of an open pixel's token; undefined if it wasn't made here. */
  readOpen(token: string): TrackedMessage | undefined {
    return read(this.#opens, token, readMessage);
  }
}

function read<Value>(
  tokens: SignedTokens,
  token: string,
  parse: (reader: ByteReader) => Value,
): Value | undefined {
  const content = tokens.read(token);
  if (content === undefined) return undefined;
  try {
    return parse(new ByteReader(content));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
