import assert from 'node:assert/strict';
import { type DropInName, dropInNames } from '../../../src/drop-in/provider/drop-in.ts';
import type { AnyRequest } from './any-request.ts';
import { type AnyAnswer, isWellFramed } from './exchange-request.ts';

/**
 * Checks what holds for every response: no internal error, Retry-After with 503 and 429, and errors in the format of the API.
 */
export function requireSoundAnswer(sent: AnyRequest, response: AnyAnswer): void {
  const { status, headers, text } = response;
  const where = `${sent.method} ${sent.target.slice(0, 300)} ${status} ${text.slice(0, 500)}`;
  assert.ok(status < 500 || status === 503, `internal error: ${where}`);
  if (status === 503 || status === 429)
    assert.match(headers['retry-after'] ?? '', /^\d+$/, `no Retry-After: ${where}`);
  assert.match(String(headers['x-request-id']), /^[\w-]{8,}$/, `no X-Request-Id: ${where}`);
  if (status < 400) return;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('text/html') || type.startsWith('text/plain')) {
    assert.ok(!isProgram(sent), `a page instead of JSON: ${where}`);
    return;
  }
  if (['/ses', '/ses/*'].includes(sent.line.limit.path) && type.startsWith('text/xml')) {
    assert.match(text, /^<ErrorResponse .*<Code>\w+<\/Code>.*<\/ErrorResponse>$/s, where);
    return;
  }
  assert.match(type, /json/, `neither a page nor JSON: ${where}`);
  requireForm(sent, status, JSON.parse(text), where);
}

type Json = Readonly<Record<string, unknown>>;

function requireForm(sent: AnyRequest, status: number, body: Json, where: string): void {
  // Requests that the HTTP parser or the router rejects never reach an API.
  if (!isWellFramed(sent) || ('message' in body && [400, 404, 405, 414, 431].includes(status)))
    return;
  const has = (...names: readonly string[]) =>
    assert.ok(
      names.every((name) => name in body),
      `not ${names.join(', ')}: ${where}`,
    );
  const { path } = sent.line.limit;
  const dropIn = dropInNames.find((name) => path.startsWith(`/${name}/`));
  if (dropIn !== undefined) has(...dropInForms[dropIn]);
  else if (path.startsWith('/manage/')) has('type', 'title', 'status', 'detail', 'requestId');
  else if (path.startsWith('/ete/') || path.startsWith('/api/'))
    has('success', 'status', 'errorName', 'message', 'requestId');
  else if (['/token', '/revoke', '/introspect'].includes(path)) has('error');
  else if (path.startsWith('/intake/')) has('status', 'message');
  else has('status', 'message', 'requestId');
}

/** The members of an error in the form of a provider. */
const dropInForms: Readonly<Record<DropInName, readonly string[]>> = {
  resend: ['statusCode', 'name', 'message'],
  postmark: ['ErrorCode', 'Message'],
  sendgrid: ['errors'],
  ses: ['message'],
  mailgun: ['message'],
};

function isProgram({ line }: AnyRequest): boolean {
  return /^\/(manage|ete|api|resend|postmark|sendgrid|mailgun|ses|token|revoke|introspect|intake|healthz|readyz)/.test(
    line.limit.path,
  );
}
