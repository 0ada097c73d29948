import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

/** RFC 9113 section 6. */
export const frameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const endStream = 1;
export const endHeaders = 4;
const ack = 1;

/** One frame (RFC 9113 section 4.1). */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** A number of four bytes. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** An integer of HPACK (RFC 7541 section 5.1). */
function hpackInteger(value: number, prefixBits: number, pattern: number): Buffer {
  const max = 2 ** prefixBits - 1;
  if (value < max) return Buffer.from([pattern | value]);
  const bytes = [pattern | max];
  let rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

const hpackString = (text: string): Buffer =>
  Buffer.concat([hpackInteger(Buffer.byteLength(text), 7, 0), Buffer.from(text)]);

/** A header block without compression (RFC 7541 section 6.2.2), or with fields kept for later blocks (section 6.2.1). */
export function headerBlock(
  fields: Readonly<Record<string, string>>,
  { indexed = false } = {},
): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from([indexed ? 0x40 : 0x00]),
    hpackString(name),
    hpackString(value),
  ]);
  return Buffer.concat(parts);
}

/** A reference to the field that was kept last (RFC 7541 section 2.3.3). */
export const lastKeptField = Buffer.from([0x80 | 62]);

/** The pseudo fields of a request. */
export function pseudoFields(path: string, method = 'GET'): Record<string, string> {
  return { ':method': method, ':scheme': 'https', ':authority': 'localhost', ':path': path };
}

interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** An HTTP/2 client that writes any frames. */
export interface RawHttp2 {
  readonly socket: TLSSocket;
  readonly frames: readonly ReceivedFrame[];
  /** The error code of the server's GOAWAY; undefined before. */
  goAwayCode(): number | undefined;
  isClosed(): boolean;
  write(...frames: readonly Buffer[]): void;
}

/** @param options acknowledge: whether to acknowledge the server's settings */
export async function openRawHttp2(
  port: number,
  ca: string,
  { acknowledge = true } = {},
): Promise<RawHttp2> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    ca,
    servername: 'localhost',
    ALPNProtocols: ['h2'],
  });
  const frames: ReceivedFrame[] = [];
  let pending = Buffer.alloc(0);
  let closed = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
  });
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 9 && pending.length >= 9 + pending.readUIntBE(0, 3)) {
      const length = pending.readUIntBE(0, 3);
      const received = {
        type: pending.readUInt8(3),
        flags: pending.readUInt8(4),
        streamId: pending.readUInt32BE(5),
        payload: pending.subarray(9, 9 + length),
      };
      pending = pending.subarray(9 + length);
      frames.push(received);
      if (received.type === frameType.settings && received.flags === 0 && acknowledge)
        socket.write(frame(frameType.settings, ack, 0, Buffer.alloc(0)));
    }
  });
  await once(socket, 'secureConnect');
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(frameType.settings, 0, 0, Buffer.alloc(0)));
  return {
    socket,
    frames,
    goAwayCode: () => frames.find(({ type }) => type === frameType.goAway)?.payload.readUInt32BE(4),
    isClosed: () => closed,
    write: (...parts) => void socket.write(Buffer.concat(parts)),
  };
}
