import type { Ajv } from 'ajv';

/**
 * Replaces Ajv's `uniqueItems`, which is quadratic unless it knows the item type, so an untrusted list could take seconds.
 * This one is linear, which works because our items are plain values.
 */
export function makeUniqueItemsLinear<Checker extends Ajv>(ajv: Checker): Checker {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (enabled: boolean, items: readonly unknown[]) =>
      !enabled || new Set(items).size === items.length,
    error: { message: 'must NOT have duplicate items' },
  });
  return ajv;
}
