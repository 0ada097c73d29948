import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openapiDocument } from '../../src/management/openapi/openapi-document.ts';
import type { TextResponse } from './send-request.ts';

type Json = Readonly<Record<string, unknown>>;

const document = openapiDocument('0') as Json;
const ajv = new Ajv2020({ strict: false, formats: { date: true, 'date-time': true, uuid: true } });
ajv.addSchema({ $id: 'document', ...document });
const paths = Object.entries(document.paths as Record<string, Json>).map(([path, operations]) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  operations,
}));

/** Checks an answer of the management API against the OpenAPI document. */
export function requireConformity(method: string, address: string, answer: TextResponse): void {
  const { pathname } = new URL(address);
  const found = paths
    .filter(({ pattern }) => pattern.test(pathname))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
  if (found === undefined || answer.status === 304 || answer.status >= 500) return;
  const operation = found.operations[method.toLowerCase()] as Json | undefined;
  if (operation === undefined) return;
  const where = `${method} ${found.path} ${answer.status}`;
  const responses = operation.responses as Record<string, Json>;
  assert.ok(
    Object.hasOwn(responses, answer.status),
    `${where} is not in the document: ${answer.text}`,
  );
  const problem = answer.status >= 400;
  const type = problem ? 'application~1problem+json' : 'application~1json';
  if (
    !problem &&
    (responses[answer.status]?.content as Json | undefined)?.['application/json'] === undefined
  )
    return;
  const step = problem
    ? '/components/responses/Problem'
    : `/paths/${found.path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${answer.status}`;
  const pointer = `document#${encodeURI(`${step}/content/${type}/schema`)}`;
  const check = ajv.getSchema(pointer);
  assert.ok(check, `${where} has no schema at ${pointer}`);
  assert.ok(
    check(JSON.parse(answer.text)),
    `${where}: ${ajv.errorsText(check.errors)} in ${answer.text}`,
  );
}
