/** PostgreSQL's default size of a WAL segment, which initdb uses. */
const segmentBytes = 16n * 1024n * 1024n;
const segmentsPerLog = 0x1_0000_0000n / segmentBytes;

/** A position in the WAL, such as `0/2000028`. */
export function parseLsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** The number of the segment with a position. */
export function segmentOfLsn(lsn: bigint): bigint {
  return lsn / segmentBytes;
}

/** The file name of a segment: timeline, log and segment in hexadecimal. */
export function walFileName(timeline: number, segment: bigint): string {
  const hex = (part: number | bigint) => part.toString(16).toUpperCase().padStart(8, '0');
  return hex(timeline) + hex(segment / segmentsPerLog) + hex(segment % segmentsPerLog);
}

/** The segment number of a WAL file; undefined for other files. */
export function segmentOfWalFile(name: string): bigint | undefined {
  const [, log, segment] = /^[0-9A-F]{8}([0-9A-F]{8})([0-9A-F]{8})$/.exec(name) ?? [];
  if (log === undefined || segment === undefined) return undefined;
  return BigInt(`0x${log}`) * segmentsPerLog + BigInt(`0x${segment}`);
}

/** Whether a file in the WAL folder is worth keeping: a complete segment, or the history of a timeline. */
export function isWalFile(name: string): boolean {
  return /^(?:[0-9A-F]{24}|[0-9A-F]{8}\.history)$/.test(name);
}
