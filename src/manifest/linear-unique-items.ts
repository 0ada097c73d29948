import type { Ajv } from 'ajv';

/**
 * Replaces Ajv's `uniqueItems`, which compares each item with all others unless it knows their type: the list of a
 * stranger could take seconds. This one takes time in proportion to the list; the items of our lists are plain values.
 */
export function makeUniqueItemsLinear<Checker extends Ajv>(ajv: Checker): Checker {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (wanted: boolean, items: readonly unknown[]) =>
      !wanted || new Set(items).size === items.length,
    error: { message: 'must NOT have duplicate items' },
  });
  return ajv;
}
