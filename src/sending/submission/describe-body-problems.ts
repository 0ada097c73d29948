import type { ErrorObject } from 'ajv';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';

/** Max details per response; a body can have tens of thousands of problems. */
const maxDetails = 100;

/** Converts schema errors to details: the field as `envelope.ccAddressList[2]` and a readable reason. */
export function describeBodyProblems(errors: readonly ErrorObject[]): FaultDetail[] {
  return (
    errors
      // A map with an invalid name has this error and one that describes the name.
      .filter(({ keyword }) => keyword !== 'propertyNames')
      .map((error) => ({ field: fieldOf(error), reason: reasonOf(error) }))
  );
}

/** Max characters of a field name in a response; value names come from the caller and can be any length. */
const maxFieldCharacters = 300;

/** Truncates details to what one response holds and says how many were omitted. */
export function limitDetails(details: readonly FaultDetail[]): readonly FaultDetail[] {
  const shown = details.slice(0, maxDetails).map(({ field, reason }) => ({
    field:
      field.length > maxFieldCharacters
        ? `${field.slice(0, maxFieldCharacters).toWellFormed()}…`
        : field,
    reason,
  }));
  const rest = details.length - shown.length;
  if (rest > 0) shown.push({ field: '', reason: `and ${rest} more problems` });
  return shown;
}

/** The error of a request with these problems, of which the first are named. */
export function unusableFields(details: readonly FaultDetail[]): Fault {
  return new Fault('VALIDATION_FAILED', { details: limitDetails(details) });
}

/** The error of a request with one problem. */
export function unusableField(field: string, reason: string): Fault {
  return unusableFields([{ field, reason }]);
}

const lists = new Set(['ccAddressList', 'bccAddressList', 'tagList', 'attachments']);

function fieldOf(error: ErrorObject): string {
  const segments = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  let field = '';
  segments.forEach((segment, index) => {
    if (lists.has(segments[index - 1] ?? '') && index === 2) field += `[${segment}]`;
    else field += field === '' ? segment : `.${segment}`;
  });
  const member: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  if (typeof member !== 'string') return field;
  return field === '' ? member : `${field}.${member}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'must be a string',
  boolean: 'must be true or false',
  object: 'must be an object',
  integer: 'must be a whole number',
  'boolean,object': 'must be true, false or an object',
  array: 'must be an array',
};

function reasonOf({ keyword, params, message, propertyName }: ErrorObject): string {
  if (propertyName !== undefined) return `has a name longer than ${params.limit} characters`;
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a field of this request';
    case 'type':
      return typeNames[String(params.type)] ?? 'has the wrong type';
    case 'maxLength':
      return `must not be longer than ${params.limit} characters`;
    case 'minLength':
      return 'must not be empty';
    case 'maxItems':
    case 'maxProperties':
      return `must not have more than ${params.limit} ${params.limit === 1 ? 'entry' : 'entries'}`;
    case 'pattern':
      return 'must be TRUE or FALSE';
    default:
      return message ?? 'is not valid';
  }
}
