import { isUtf8 } from 'node:buffer';
import { decodeTransferEncoding } from '../foundation/mime/decode-transfer-encoding.ts';
import { sendBodyBytes } from '../http/limits/route-limits.ts';
import { isJsonType, parseBodyText, unusableBody } from '../submission/read-body-json.ts';
import { type SubmittedMessage, singleField } from './read-message-head.ts';

/** Base64 is a third longer than its content, and quoted-printable at most three times. */
const maxEncodedBytes = sendBodyBytes * 3;

/**
 * Reads the values of a template from the body of a message.
 * @throws Fault VALIDATION_FAILED if it isn't a JSON object in UTF-8
 */
export function readTemplateValues({ fields, body }: SubmittedMessage): unknown {
  if (!isJsonType(singleField(fields, 'Content-Type')?.value))
    throw unusableBody('with X-Signalpost-Template, the Content-Type must be application/json');
  const encoding = singleField(fields, 'Content-Transfer-Encoding')?.value;
  if (body.length > maxEncodedBytes) throw unusableBody(tooLong);
  const bytes = decodeTransferEncoding(body.toString('latin1'), encoding);
  if (bytes.length > sendBodyBytes) throw unusableBody(tooLong);
  if (!isUtf8(bytes)) throw unusableBody('the body is not valid UTF-8');
  return parseBodyText(bytes.toString('utf8')).value;
}

const tooLong = `the body is longer than ${sendBodyBytes} bytes`;
