import type pg from 'pg';
import { ServiceClient } from './service-client.ts';

/**
 * Encodes arrays in PostgreSQL's binary format (array_send in the server's source), so a whole column of a batch is a single
 * buffer without escaping or parsing; `pg` sends Buffers as binary. Every parameter needs a cast, such as `$1::text[]`.
 */

const oids = {
  bool: 16,
  int2: 21,
  int4: 23,
  text: 25,
  json: 114,
  bytea: 17,
  uuid: 2950,
} as const;

/** Dimensions, null flag, element type, length, lower bound: five 32-bit integers. */
const headerBytes = 20;
const nullLength = -1;

function putHeader(target: Buffer, oid: number, length: number, nulls: boolean): number {
  target.writeInt32BE(1, 0);
  target.writeInt32BE(nulls ? 1 : 0, 4);
  target.writeInt32BE(oid, 8);
  target.writeInt32BE(length, 12);
  target.writeInt32BE(1, 16);
  return headerBytes;
}

type TextLike = 'text' | 'json';

/** `text[]` or `json[]`; undefined becomes null. */
export function textArray(
  values: readonly (string | undefined)[],
  type: TextLike = 'text',
): Buffer {
  let maxSize = headerBytes;
  for (const value of values) maxSize += 4 + (value === undefined ? 0 : maxUtf8Bytes(value));
  const target = Buffer.allocUnsafe(maxSize);
  let nulls = false;
  let at = headerBytes;
  for (const value of values) {
    if (value === undefined) {
      nulls = true;
      at = target.writeInt32BE(nullLength, at);
    } else {
      const bytes = target.write(value, at + 4, 'utf8');
      target.writeInt32BE(bytes, at);
      at += 4 + bytes;
    }
  }
  putHeader(target, oids[type], values.length, nulls);
  return target.subarray(0, at);
}

/** A UTF-16 unit is at most three UTF-8 bytes; long texts are measured exactly to avoid over-allocating. */
function maxUtf8Bytes(text: string): number {
  return text.length < 64 ? text.length * 3 : Buffer.byteLength(text);
}

/** `bytea[]` from Latin-1 strings with one byte per character; undefined becomes null. */
export function bytesArray(values: readonly (string | undefined)[]): Buffer {
  let size = headerBytes;
  let nulls = false;
  for (const value of values) {
    size += 4 + (value?.length ?? 0);
    nulls ||= value === undefined;
  }
  const target = Buffer.allocUnsafe(size);
  let at = putHeader(target, oids.bytea, values.length, nulls);
  for (const value of values) {
    at = target.writeInt32BE(value?.length ?? nullLength, at);
    if (value !== undefined) at += target.write(value, at, 'latin1');
  }
  return target;
}

/** `uuid[]` from the hyphenated form. */
export function uuidArray(values: readonly string[]): Buffer {
  const target = Buffer.allocUnsafe(headerBytes + values.length * 20);
  let at = putHeader(target, oids.uuid, values.length, false);
  for (const value of values) {
    at = target.writeInt32BE(16, at);
    at += target.write(value.replaceAll('-', ''), at, 'hex');
  }
  return target;
}

/** `int4[]`. */
export function intArray(values: readonly number[]): Buffer {
  const target = Buffer.allocUnsafe(headerBytes + values.length * 8);
  let at = putHeader(target, oids.int4, values.length, false);
  for (const value of values) {
    at = target.writeInt32BE(4, at);
    at = target.writeInt32BE(value, at);
  }
  return target;
}

/** `smallint[]`. */
export function smallintArray(values: readonly number[]): Buffer {
  const target = Buffer.allocUnsafe(headerBytes + values.length * 6);
  let at = putHeader(target, oids.int2, values.length, false);
  for (const value of values) {
    at = target.writeInt32BE(2, at);
    at = target.writeInt16BE(value, at);
  }
  return target;
}

/** `boolean[]`. */
export function booleanArray(values: readonly boolean[]): Buffer {
  const target = Buffer.allocUnsafe(headerBytes + values.length * 5);
  let at = putHeader(target, oids.bool, values.length, false);
  for (const value of values) {
    at = target.writeInt32BE(1, at);
    at = target.writeUInt8(value ? 1 : 0, at);
  }
  return target;
}

/** Shorter values are cheaper to copy than to write separately. */
const minBytes = 64 * 1_024;
/** Type of a bind message. */
const typeBytes = 1;
/** Result formats, after the values of a bind message. */
const tailBytes = 4;

interface BindRequest {
  readonly values?: readonly unknown[] | null;
}

/**
 * A connection that sends a large last value uncopied; the driver by itself copies all values into its message. The value
 * must not change until the statement succeeds, and never again if it fails, because it may still be in transit.
 */
export class LargeValueClient extends ServiceClient {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as { readonly connection: DriverConnection };
    const bind = connection.bind.bind(connection);
    connection.bind = (request) => {
      const value = request.values?.at(-1);
      if (Buffer.isBuffer(value) && value.length >= minBytes)
        bindAround(connection, bind, request, value);
      else bind(request);
    };
  }
}

interface DriverConnection {
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): boolean };
  bind(request: BindRequest): void;
  _send(message: Buffer): boolean;
}

/** Lets the driver compose the message with an empty last value, and sends the value between its two parts. */
function bindAround(
  connection: DriverConnection,
  bind: DriverConnection['bind'],
  request: BindRequest,
  value: Buffer,
): void {
  let message: Buffer | undefined;
  const send = connection._send;
  connection._send = (bytes) => {
    message = bytes;
    return true;
  };
  try {
    bind({ ...request, values: [...(request.values ?? []).slice(0, -1), Buffer.alloc(0)] });
  } finally {
    connection._send = send;
  }
  if (message === undefined) throw new Error('the driver sent no bind message');
  const valueAt = message.length - tailBytes;
  message.writeInt32BE(message.readInt32BE(typeBytes) + value.length, typeBytes);
  message.writeInt32BE(value.length, valueAt - 4);
  const { stream } = connection;
  if (!stream.writable) return;
  stream.write(message.subarray(0, valueAt));
  stream.write(value);
  stream.write(message.subarray(valueAt));
}
