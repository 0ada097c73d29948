import { isUtf8 } from 'node:buffer';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { maxBatchMessages } from '../../host/http/limits/route-limits.ts';
import { BatchScanner, type ScannedBatch } from './batch-scanner.ts';
import { limitDetails } from './describe-body-problems.ts';
import { unusableBody } from './read-body-json.ts';

/** Runs work in a separate event loop turn. */
export type RunInTurn = <Result>(work: () => Result) => Promise<Result>;

const byteOrderMark = Buffer.from('\uFEFF');
/** A millisecond or two of scanning. */
const bytesPerTurn = 64 * 1024;
/** Max bytes of a member name in a response. */
const maxShownName = 300;

/**
 * Validates a batch and splits it into the bytes of its messages.
 * @throws Fault VALIDATION_FAILED if it isn't valid JSON, or not an object with an array `messages` of up to 1,000 entries
 */
export async function readBatch(body: Buffer, runInTurn: RunInTurn): Promise<readonly Buffer[]> {
  // RFC 8259 section 8.1: a byte order mark may be ignored.
  const bytes = body.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    ? body.subarray(byteOrderMark.length)
    : body;
  if (!isUtf8(bytes)) throw unusableBody('the body is not valid UTF-8');
  const scanner = new BatchScanner(bytes, maxBatchMessages);
  while (!(await runInTurn(() => scanner.scan(bytesPerTurn)))) {
    // Another piece is left.
  }
  if (scanner.hasTooMany) throw invalidBatch([tooMany]);
  const found = scanner.finish();
  if (found === undefined)
    throw unusableBody(scanner.isEmpty ? 'the body is empty' : 'the body is not valid JSON');
  const details = findProblems(bytes, found);
  if (details.length > 0) throw invalidBatch(details);
  return found.ranges.map(([start, end]) => bytes.subarray(start, end));
}

const tooMany: FaultDetail = {
  field: 'messages',
  reason: `must not have more than ${maxBatchMessages} entries; send the rest in another batch`,
};

function invalidBatch(details: readonly FaultDetail[]): Fault {
  return new Fault('VALIDATION_FAILED', { details: limitDetails(details) });
}

function findProblems(bytes: Buffer, found: ScannedBatch): FaultDetail[] {
  if (!found.isObject) return [{ field: '', reason: 'must be an object' }];
  const details: FaultDetail[] = [];
  if (found.occurrences === 0) details.push({ field: 'messages', reason: 'is required' });
  else if (found.isOtherValue) details.push({ field: 'messages', reason: 'must be an array' });
  else if (found.occurrences > 1)
    details.push({ field: 'messages', reason: 'must not be repeated' });
  for (const [start, end] of found.otherNames)
    details.push({
      field: readName(bytes.subarray(start, end)),
      reason: 'is not a field of a batch',
    });
  return details;
}

/** @param name with its quotes */
function readName(name: Buffer): string {
  if (name.length > maxShownName) return `${name.toString('utf8', 1, maxShownName)}…`;
  return (JSON.parse(name.toString()) as string).toWellFormed();
}
