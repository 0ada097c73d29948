import { codeOf } from '../database/sqlstate.ts';

const lostCodes = ['ECONNECTION', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'];

/** True if the client left in the middle of what it sent. @param error of the client's own stream */
export function isLostConnection(error: unknown): boolean {
  return lostCodes.includes(codeOf(error) ?? '');
}
