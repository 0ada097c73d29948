import { Readable } from 'node:stream';
import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { parseMessageId } from '../../base/values/ids.ts';
import { findInvalidText } from '../../sending/submission/find-invalid-text.ts';
import { describeSchemaErrors, makeUniqueItemsLinear } from '../manifest/check-schema.ts';
import { formatPath } from '../manifest/manifest-problems.ts';
import { invalidFields, Problem } from './answer/problem.ts';
import { isTimeOrDay } from './answer/read-query.ts';
import type { ManagementOperation } from './operation.ts';

/** What a string of each format must be; every UUID may be in any case, as in a path. */
const stringFormats = {
  uuid: (text: string) => parseMessageId(text) !== undefined,
  date: (text: string) => text.length === 10 && isTimeOrDay(text),
  'date-time': (text: string) => text.length > 10 && isTimeOrDay(text),
} as const;

const ajvOptions = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  strict: false,
  formats: stringFormats,
} as const;

/** Max errors reported in a response. */
const maxErrors = 50;

/** Validates bodies and queries against their schemas, which are compiled on first use. */
export class InputChecker {
  /** Coerces types, because query parameters are text. */
  static readonly #queryAjv = makeUniqueItemsLinear(
    new Ajv({ ...ajvOptions, coerceTypes: true, useDefaults: true }),
  );
  static readonly #bodyAjv = makeUniqueItemsLinear(new Ajv(ajvOptions));
  static readonly #compiled = new WeakMap<TSchema, ValidateFunction>();

  /** @throws Problem that lists every invalid value */
  readQuery(operation: ManagementOperation, input: unknown): unknown {
    const query = { ...(input as object) };
    rejectRepeatedParameters(query);
    if (operation.query !== undefined) this.#check(InputChecker.#queryAjv, operation.query, query);
    else if (Object.keys(query).length > 0) {
      throw new Problem('validation-failed', 'This endpoint has no query parameters', {
        errors: Object.keys(query).map((field) => ({ field, reason: 'is unknown' })),
      });
    }
    return query;
  }

  /**
   * @param maxValues max members and array items, including nested ones
   * @throws Problem that lists every invalid value
   */
  readBody(operation: ManagementOperation, input: unknown, maxValues?: number): unknown {
    if (operation.body === undefined || operation.accepts !== undefined) return input;
    // Only endpoints that accept files receive the unread stream.
    if (input instanceof Readable)
      throw new Problem('unsupported-media-type', 'Send the body as application/json');
    this.#check(InputChecker.#bodyAjv, operation.body, input ?? {}, maxValues);
    return input ?? {};
  }

  #check(ajv: Ajv, schema: TSchema, value: unknown, maxValues?: number): void {
    const invalid = findInvalidText(value, maxErrors, maxValues);
    if (invalid.length > 0) throw invalidFields(invalid);
    const check = InputChecker.#compiled.get(schema) ?? ajv.compile(schema);
    InputChecker.#compiled.set(schema, check);
    if (check(value)) return;
    const described = describeSchemaErrors(check.errors ?? [], value, maxErrors);
    throw invalidFields(
      described.map(({ path, message }) => ({ field: formatPath(path), reason: message })),
    );
  }
}

/** @throws Problem that lists the parameters given more than once */
function rejectRepeatedParameters(query: object): void {
  const errors = Object.entries(query)
    .filter(([, value]) => Array.isArray(value))
    .map(([field]) => ({ field, reason: 'is given more than once' }));
  if (errors.length > 0) throw invalidFields(errors);
}
