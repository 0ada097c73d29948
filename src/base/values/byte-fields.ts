import type { AccountId, MessageId } from './ids.ts';
import { formatUuid } from './uuid7.ts';

/** A message ID with the fields that identify its partition. */
export interface TrackedMessage {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly retentionDays: number;
}

/** The bytes of a token begin with its message. */
export function writeMessage({ accountId, messageId, retentionDays }: TrackedMessage): ByteWriter {
  return new ByteWriter().uuid(messageId).text(accountId).number(retentionDays);
}

export function readMessage(reader: ByteReader): TrackedMessage {
  const messageId = reader.uuid() as MessageId;
  const accountId = reader.text() as AccountId;
  return { accountId, messageId, retentionDays: reader.number() };
}

/** Encodes small numbers and texts compactly. */
export class ByteWriter {
  readonly #parts: Buffer[] = [];

  /** A non-negative integer, seven bits per byte. */
  number(value: number): this {
    const bytes: number[] = [];
    let rest = value;
    while (rest > 127) {
      bytes.push((rest & 127) | 128);
      rest >>>= 7;
    }
    bytes.push(rest);
    this.#parts.push(Buffer.from(bytes));
    return this;
  }

  text(value: string): this {
    const bytes = Buffer.from(value, 'utf8');
    this.number(bytes.length);
    this.#parts.push(bytes);
    return this;
  }

  uuid(value: string): this {
    this.#parts.push(Buffer.from(value.replaceAll('-', ''), 'hex'));
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Reads what a `ByteWriter` wrote. Throws RangeError past the end. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#at);
      this.#at += 1;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError('a number is too long');
  }

  text(): string {
    return this.#take(this.number()).toString('utf8');
  }

  uuid(): string {
    return formatUuid(this.#take(16));
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the bytes end too soon');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
