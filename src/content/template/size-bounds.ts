import { builtInFields } from './built-in-fields.ts';
import type {
  CompiledField,
  CompiledNode,
  CompiledTemplate,
  CompiledUrl,
} from './compiled-template.ts';
import { escapeHtml } from './escape-html.ts';
import { indexFields } from './field-index.ts';
import { type FieldValue, type GivenValues, isRecord } from './field-value.ts';
import { MAX_RENDERED_BYTES } from './template-limits.ts';
import { openScope, type ValueScope } from './value-scope.ts';

/** Upper bounds for the size of a version's messages, computed once per version. */
export interface SizeBounds {
  /** Bytes of the larger part with every section shown and every default filled in. */
  readonly withoutValues: number;
  /** Uses of the most frequent field within one part. */
  readonly maxFieldUses: number;
  /** The same two inside the sections of lists, for one item; absent: there are none. */
  readonly perItem?: { readonly withoutValues: number; readonly maxFieldUses: number };
}

/** A part that is certain to exceed its limit, and the field that takes the most space in it. */
export interface OversizedPart {
  readonly part: 'HTML' | 'text';
  /** Undefined: the template is too large even without values. */
  readonly field: string | undefined;
  readonly uses: number;
  /** The field is a list or an object, whose items are counted with the text around them. */
  readonly structured: boolean;
}

/** A UTF-16 unit of a value becomes at most three UTF-8 bytes, each percent-encoded as three characters. */
const maxBytesPerCodeUnit = 9;
/** More than any helper makes of a value that it can read. */
const maxFormattedBytes = 3_000;

export function computeSizeBounds({ html, text, fields }: CompiledTemplate): SizeBounds {
  const defaults = defaultLengths(fields);
  const outside = new BoundCounter(defaults);
  const inItems = new BoundCounter(defaults);
  let hasItems = false;
  for (const nodes of [html ?? [], text ?? []]) {
    const visit = (list: readonly CompiledNode[], counter: BoundCounter): void => {
      for (const node of list) {
        if (typeof node === 'string') counter.bytes += Buffer.byteLength(escapeHtml(node));
        else if (node.type === 'field') {
          if (node.format === undefined) counter.addField(node.name);
          else counter.bytes += maxFormattedBytes;
        } else if (node.type === 'each') {
          hasItems = true;
          visit(node.nodes, inItems);
        } else if (node.type !== 'slot') visit(node.nodes, counter);
      }
    };
    visit(nodes, outside);
    outside.endPart();
    inItems.endPart();
  }
  return hasItems ? { ...outside.bounds, perItem: inItems.bounds } : outside.bounds;
}

/** Counts the parts of a template; the largest of each counts. */
class BoundCounter {
  bytes = 0;
  #withoutValues = 0;
  #maxFieldUses = 0;
  readonly #uses = new Map<string, number>();
  readonly #defaults: ReadonlyMap<string, number>;

  constructor(defaults: ReadonlyMap<string, number>) {
    this.#defaults = defaults;
  }

  addField(name: string): void {
    this.bytes += (this.#defaults.get(name) ?? 0) * maxBytesPerCodeUnit;
    this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
  }

  endPart(): void {
    this.#withoutValues = Math.max(this.#withoutValues, this.bytes);
    for (const count of this.#uses.values())
      this.#maxFieldUses = Math.max(this.#maxFieldUses, count);
    this.bytes = 0;
    this.#uses.clear();
  }

  get bounds() {
    return { withoutValues: this.#withoutValues, maxFieldUses: this.#maxFieldUses };
  }
}

/** The longest default of each name, in items or outside of them. */
function defaultLengths(fields: readonly CompiledField[]): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  const visit = (list: readonly CompiledField[]): void => {
    for (const { name, default: value, fields: inner } of list) {
      const length = typeof value === 'string' ? value.length : 0;
      lengths.set(name, Math.max(lengths.get(name) ?? 0, length));
      visit(inner ?? []);
    }
  };
  visit(fields);
  return lengths;
}

/** Bytes of a part without values, all of its sections and URLs included. */
export function fixedBytes(nodes: readonly CompiledNode[]): number {
  let bytes = 0;
  for (const node of nodes)
    if (typeof node === 'string') bytes += Buffer.byteLength(node);
    else if ('nodes' in node) bytes += fixedBytes(node.nodes);
  return bytes;
}

/**
 * Finds the part of a message that is certain to exceed `MAX_RENDERED_BYTES`. Anything that may be omitted, such as a
 * link that a value empties or tracking replaces, doesn't count. Costs nothing for messages of ordinary size.
 * @param maxCodeUnits an upper bound for the UTF-16 units of all values
 */
export function findOversizedPart(
  compiled: CompiledTemplate,
  bounds: SizeBounds,
  values: GivenValues,
  maxCodeUnits: number,
): OversizedPart | undefined {
  if (boundPartBytes(compiled, bounds, values, maxCodeUnits) <= MAX_RENDERED_BYTES)
    return undefined;
  const scope = openScope(indexFields(compiled.fields), values);
  return (
    measurePart('HTML', compiled, compiled.html ?? [], scope) ??
    measurePart('text', compiled, compiled.text ?? [], scope)
  );
}

/** Bytes that the larger part has at most. @param maxCodeUnits as above */
export function boundPartBytes(
  compiled: CompiledTemplate,
  { perItem, withoutValues, maxFieldUses }: SizeBounds,
  values: GivenValues,
  maxCodeUnits: number,
): number {
  const maxBytes = withoutValues + maxCodeUnits * maxBytesPerCodeUnit * maxFieldUses;
  if (perItem === undefined) return maxBytes;
  // A section is shown at most as often as there are items in all.
  const { items, defaultUnits } = countItems(compiled, values);
  const units = (maxCodeUnits + defaultUnits) * maxBytesPerCodeUnit;
  return maxBytes + items * (perItem.withoutValues + units * perItem.maxFieldUses);
}

/** Objects and items among the values and defaults, and the units of the texts in such defaults. */
function countItems(
  { fields }: CompiledTemplate,
  values: GivenValues,
): { readonly items: number; readonly defaultUnits: number } {
  let items = 0;
  let units = 0;
  const visit = (value: FieldValue | undefined): void => {
    if (typeof value === 'string') units += value.length;
    else if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isRecord(value)) {
      items += 1;
      for (const inner of Object.values(value)) visit(inner);
    }
  };
  for (const field of fields) if (typeof field.default !== 'string') visit(field.default);
  const defaultUnits = units;
  for (const value of Object.values(values)) if (typeof value !== 'string') visit(value);
  return { items, defaultUnits };
}

function measurePart(
  part: OversizedPart['part'],
  compiled: CompiledTemplate,
  nodes: readonly CompiledNode[],
  scope: ValueScope,
): OversizedPart | undefined {
  const meter = new PartMeter(compiled);
  meter.measure(nodes, scope);
  if (meter.total <= MAX_RENDERED_BYTES) return undefined;
  const [largest] = [...meter.used].sort(([, one], [, other]) => other.bytes - one.bytes);
  const field = largest?.[0];
  return {
    part,
    field,
    uses: largest?.[1].uses ?? 0,
    structured: compiled.fields.some(({ name, kind }) => name === field && kind !== undefined),
  };
}

/** Adds up the minimum number of bytes that a part renders to; what exceeds the limit by far isn't counted further. */
class PartMeter {
  total = 0;
  readonly used = new Map<string, { bytes: number; uses: number }>();
  readonly #compiled: CompiledTemplate;
  readonly #sizes = new Map<string, number>();

  constructor(compiled: CompiledTemplate) {
    this.#compiled = compiled;
  }

  /** @param list the outermost list around these nodes, which counts as the field that is used */
  measure(nodes: readonly CompiledNode[], scope: ValueScope, list?: string): void {
    for (const node of nodes) {
      if (typeof node === 'string') this.#addText(node, list);
      else if (node.type === 'field') {
        if (node.format === undefined)
          this.#addField(node.name, sizeOf(node.name, node.as, scope, this.#sizesIn(list)), list);
      } else if (node.type === 'each') {
        for (const record of scope.records(node.name))
          this.measure(node.nodes, scope.enter(node.name, record), list ?? node.name);
      } else if (node.type === 'section') {
        if (shows(node.name, node.shown, scope)) this.measure(node.nodes, scope, list);
      } else if (node.type === 'url' && this.#isAlwaysRendered(node))
        this.#measureUrl(node, scope, list);
    }
  }

  #measureUrl({ nodes }: CompiledUrl, scope: ValueScope, list: string | undefined): void {
    for (const node of nodes) {
      if (typeof node === 'string') this.#addText(node, list);
      else if (node.type === 'field')
        this.#addField(node.name, sizeOf(node.name, 'plain', scope, this.#sizesIn(list)), list);
    }
  }

  /** Values outside of items are measured once. */
  #sizesIn(list: string | undefined): Map<string, number> | undefined {
    return list === undefined ? this.#sizes : undefined;
  }

  #addText(text: string, list: string | undefined): void {
    const bytes = Buffer.byteLength(text);
    this.total += bytes;
    if (list !== undefined) this.#use(list, bytes, 0);
  }

  #addField(name: string, bytes: number, list: string | undefined): void {
    this.total += bytes;
    this.#use(list ?? name, bytes, 1);
  }

  #use(name: string, bytes: number, uses: number): void {
    const before = this.used.get(name) ?? { bytes: 0, uses: 0 };
    this.used.set(name, { bytes: before.bytes + bytes, uses: before.uses + uses });
  }

  /** True for a URL that no value can empty and no tracking link can replace. */
  #isAlwaysRendered({ nodes, link }: CompiledUrl): boolean {
    const [first] = nodes;
    const startsWithText = typeof first === 'string' && first.trim() !== '';
    return startsWithText && (link === undefined || !this.#compiled.links[link]?.trackable);
  }
}

function sizeOf(
  name: string,
  as: string,
  scope: ValueScope,
  sizes: Map<string, number> | undefined,
): number {
  // A style omits values that don't fit, text omits tags, and the service fills in its own fields later.
  if (as === 'css' || as === 'text' || builtInFields.has(name)) return 0;
  const key = `${as === 'html' ? 'html' : 'plain'} ${name}`;
  const cached = sizes?.get(key);
  if (cached !== undefined) return cached;
  const value = scope.text(name);
  const size = Buffer.byteLength(as === 'html' ? escapeHtml(value) : value);
  sizes?.set(key, size);
  return size;
}

/** True if a section is certain to be shown. */
function shows(name: string, shown: 'filled' | 'empty', scope: ValueScope): boolean {
  if (builtInFields.has(name)) return false;
  return (scope.text(name) !== '') === (shown === 'filled');
}
