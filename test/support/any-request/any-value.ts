import fc from 'fast-check';

/** JSON Schema, read loosely. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Texts that mean something to the service, so that schema-valid values also pass later checks. */
const words = [
  'reader@example.test',
  'orders@shop.test',
  'shop.test',
  'https://shop.test/hook',
  't-0001',
  'Order Number',
  'Orders',
  'en',
  'de-AT',
  'UTC',
  'Europe/Vienna',
  '2026-01-01',
  '2026-02-30',
  '2026-01-01T00:00:00Z',
  '00000000-0000-7000-8000-000000000000',
  '127.0.0.1/32',
  '<p>{{Order Number}}</p>',
  '{{',
  '<mjml><mj-body></mj-body></mjml>',
];

/** Values that a JSON Schema allows. */
export function anyValue(schema: JsonSchema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray);
  if (alternatives !== undefined) return fc.oneof(...alternatives.map(anyValue));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => anyValue({ ...schema, type })));
  switch (schema.type) {
    case 'string':
      return anyText(schema);
    case 'integer':
    case 'number':
      return fc.integer({
        min: Number(schema.minimum ?? 0),
        max: Number(schema.maximum ?? 2 ** 31 - 1),
      });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return anyArray(schema);
    case 'object':
      return anyObject(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function anyText(schema: JsonSchema): fc.Arbitrary<string> {
  const { pattern, minLength = 0, maxLength = 60 } = schema as { [name: string]: never };
  const form = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && (form?.test(text) ?? true);
  const known = words.filter(fits);
  const free =
    form === undefined
      ? fc.oneof(
          fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) }),
          fc.constant('x'.repeat(maxLength)),
        )
      : matching(form);
  return known.length === 0 ? free : fc.oneof(fc.constantFrom(...known), free);
}

/** fast-check doesn't support look-ahead; such a pattern gets arbitrary text, which doesn't match it. */
function matching(form: RegExp): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(form, { maxLength: 200 });
  } catch {
    return fc.string();
  }
}

function anyArray(schema: JsonSchema): fc.Arbitrary<unknown[]> {
  const minLength = Number(schema.minItems ?? 0);
  const maxCount = Number(schema.maxItems ?? 4);
  const items = anyValue((schema.items ?? {}) as JsonSchema);
  return fc.array(items, { minLength, maxLength: Math.max(minLength, Math.min(maxCount, 4)) });
}

function anyObject(schema: JsonSchema): fc.Arbitrary<object> {
  const members = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const requiredKeys = (schema.required ?? []) as string[];
  const known = fc.record(Object.fromEntries(members.map(([k, v]) => [k, anyValue(v)])), {
    requiredKeys,
  });
  const { additionalProperties, patternProperties } = schema;
  const others =
    Object.values((patternProperties ?? {}) as Record<string, JsonSchema>)[0] ??
    additionalProperties;
  if (typeof others !== 'object' || others === null) return known;
  const names = fc.oneof(fc.constantFrom('Order Number', 'First Name', 'a'), fc.string());
  const rest = fc.dictionary(names, anyValue(others as JsonSchema), { maxKeys: 4 });
  return fc.tuple(rest, known).map(([more, own]) => ({ ...more, ...own }));
}
