import { randomFillSync } from 'node:crypto';

const digits = Buffer.from('0123456789abcdef');
const high = Uint8Array.from({ length: 256 }, (_, byte) => digits[byte >> 4] ?? 0);
const low = Uint8Array.from({ length: 256 }, (_, byte) => digits[byte & 15] ?? 0);
/** Position of the two digits of each byte. */
const places = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
const text = Buffer.alloc(36, '-');

/**
 * Formats a UUID (RFC 9562 section 4) from its 16 bytes as a flat string, because a concatenated string takes five times the
 * memory until it is read.
 */
export function formatUuid(bytes: Uint8Array): string {
  for (let index = 0; index < 16; index += 1) {
    const byte = bytes[index] ?? 0;
    const place = places[index] ?? 0;
    text[place] = high[byte] ?? 0;
    text[place + 1] = low[byte] ?? 0;
  }
  return text.toString('latin1');
}

/** Random bytes are fetched in bulk, because small requests dominate the cost of an id. */
const randomPool = Buffer.allocUnsafeSlow(8 * 1024);
let used = randomPool.length;

const bytes = new Uint8Array(16);

const counterBits = 12;
const maxCount = (1 << counterBits) - 1;

let lastTime = 0;
let count = 0;
let clockOffset = 0;

/**
 * Corrects the clock used for IDs; IDs ascend again from the next one on.
 * @param offsetMs milliseconds to add to the machine's clock
 */
export function setIdClockOffset(offsetMs: number): void {
  clockOffset = offsetMs;
  lastTime = 0;
}

/**
 * A UUID v7 (RFC 9562 section 5.7). Ids of a process ascend: the 12 bits after the time count up from a random start within a
 * millisecond (section 6.2 method 1). If they overflow, or the clock is set back, the time runs ahead of the clock. The other
 * 62 bits are random.
 */
export function makeUuid7(): string {
  if (used + 10 > randomPool.length) {
    randomFillSync(randomPool);
    used = 0;
  }
  const now = Date.now() + clockOffset;
  if (now > lastTime) {
    lastTime = now;
    // Starts in the lower half, to leave headroom for counting.
    count = randomPool.readUInt16BE(used) & (maxCount >> 1);
  } else if (count < maxCount) count += 1;
  else {
    lastTime += 1;
    count = 0;
  }
  used += 2;
  const high = Math.floor(lastTime / 0x1_0000_0000);
  const low = lastTime >>> 0;
  bytes[0] = high >>> 8;
  bytes[1] = high;
  bytes[2] = low >>> 24;
  bytes[3] = low >>> 16;
  bytes[4] = low >>> 8;
  bytes[5] = low;
  bytes[6] = 0x70 | (count >>> 8);
  bytes[7] = count;
  for (let index = 8; index < 16; index += 1, used += 1) bytes[index] = randomPool[used] ?? 0;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return formatUuid(bytes);
}

/** The lowest UUID v7 of a time (RFC 9562 section 5.7): 48 bits of milliseconds followed by zeros. */
export function minIdAt(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0').slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time of a UUID v7. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
