/** What a caller needs to know about a published template. */
export interface TemplateShape {
  readonly id: string;
  readonly fields: readonly FieldShape[];
  /** Languages of its variants; absent or empty: it has none. */
  readonly locales?: readonly string[] | undefined;
}

export interface FieldShape {
  readonly name: string;
  readonly kind: 'text' | 'list' | 'object';
  readonly required: boolean;
  readonly description?: string | null | undefined;
  /** Of a list's items, or of an object. */
  readonly fields?: readonly FieldShape[] | undefined;
}

/** Independent of the machine's language. */
export function inOrder<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return [...items].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
}

/** What the service fills in itself (`src/content/template/built-in-fields.ts`); this folder imports nothing from others. */
const filledIn: readonly string[] = ['Unsubscribe Link'];

/** The fields that a request can have. */
export function requestFields(fields: readonly FieldShape[]): FieldShape[] {
  return fields.filter(({ name }) => !filledIn.includes(name));
}
