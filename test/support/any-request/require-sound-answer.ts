import assert from 'node:assert/strict';
import type { AnyRequest } from './any-request.ts';
import { type AnyAnswer, isWellFramed } from './exchange-request.ts';

/**
 * Holds an answer to what every answer keeps: no fault of the service, 503 and 429 with Retry-After, and a refusal in the
 * form of its API.
 */
export function requireSoundAnswer(asked: AnyRequest, answer: AnyAnswer): void {
  const { status, headers, text } = answer;
  const where = `${asked.method} ${asked.target.slice(0, 300)} ${status} ${text.slice(0, 500)}`;
  assert.ok(status < 500 || status === 503, `a fault of the service: ${where}`);
  if (status === 503 || status === 429)
    assert.match(headers['retry-after'] ?? '', /^\d+$/, `no Retry-After: ${where}`);
  assert.match(String(headers['x-request-id']), /^[\w-]{8,}$/, `no X-Request-Id: ${where}`);
  if (status < 400) return;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('text/html') || type.startsWith('text/plain')) {
    assert.ok(!isProgram(asked), `a page for a program: ${where}`);
    return;
  }
  assert.match(type, /json/, `neither a page nor JSON: ${where}`);
  requireForm(asked, status, JSON.parse(text), where);
}

type Json = Readonly<Record<string, unknown>>;

function requireForm(asked: AnyRequest, status: number, body: Json, where: string): void {
  // What the parser of HTTP or the router refuses comes to no API.
  if (!isWellFramed(asked) || ('message' in body && [400, 404, 405, 414, 431].includes(status)))
    return;
  const has = (...names: readonly string[]) =>
    assert.ok(
      names.every((name) => name in body),
      `not ${names.join(', ')}: ${where}`,
    );
  const { path } = asked.line.limit;
  if (path.startsWith('/manage/')) has('type', 'title', 'status', 'detail', 'requestId');
  else if (path.startsWith('/ete/') || path.startsWith('/api/'))
    has('success', 'status', 'errorName', 'message', 'requestId');
  else if (['/token', '/revoke', '/introspect'].includes(path)) has('error');
  else if (path.startsWith('/intake/')) has('status', 'message');
  else has('status', 'message', 'requestId');
}

function isProgram({ line }: AnyRequest): boolean {
  return /^\/(manage|ete|api|token|revoke|introspect|intake|healthz|readyz)/.test(line.limit.path);
}
