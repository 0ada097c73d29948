import { builtInFields } from './built-in-fields.ts';
import type { CompiledNode, CompiledTemplate, CompiledUrl } from './compiled-template.ts';
import { escapeHtml } from './escape-html.ts';
import { normalizeValue } from './normalize-value.ts';
import { MAX_RENDERED_BYTES } from './template-limits.ts';

/** Upper bounds for the size of a version's messages, computed once per version. */
export interface SizeBounds {
  /** Bytes of the larger part with every section shown and every default filled in. */
  readonly withoutValues: number;
  /** Uses of the most frequent field within one part. */
  readonly maxFieldUses: number;
}

/** A part that is certain to exceed its limit, and the field that takes the most space in it. */
export interface OversizedPart {
  readonly part: 'HTML' | 'text';
  /** Undefined: the template is too large even without values. */
  readonly field: string | undefined;
  readonly uses: number;
}

/** A UTF-16 unit of a value becomes at most three UTF-8 bytes, each percent-encoded as three characters. */
const maxBytesPerCodeUnit = 9;

export function computeSizeBounds({ html, text, fields }: CompiledTemplate): SizeBounds {
  const defaults = new Map(fields.map((field) => [field.name, field.default?.length ?? 0]));
  let withoutValues = 0;
  let maxFieldUses = 0;
  for (const nodes of [html ?? [], text ?? []]) {
    const uses = new Map<string, number>();
    let bytes = 0;
    const visit = (list: readonly CompiledNode[]): void => {
      for (const node of list) {
        if (typeof node === 'string') bytes += Buffer.byteLength(escapeHtml(node));
        else if (node.type === 'field') {
          bytes += (defaults.get(node.name) ?? 0) * maxBytesPerCodeUnit;
          uses.set(node.name, (uses.get(node.name) ?? 0) + 1);
        } else if (node.type !== 'slot') visit(node.nodes);
      }
    };
    visit(nodes);
    withoutValues = Math.max(withoutValues, bytes);
    for (const count of uses.values()) maxFieldUses = Math.max(maxFieldUses, count);
  }
  return { withoutValues, maxFieldUses };
}

/** Bytes that a part has regardless of its values. */
export function fixedBytes(nodes: readonly CompiledNode[]): number {
  let bytes = 0;
  for (const node of nodes) if (typeof node === 'string') bytes += Buffer.byteLength(node);
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
  values: Readonly<Record<string, string>>,
  maxCodeUnits: number,
): OversizedPart | undefined {
  const maxBytes = bounds.withoutValues + maxCodeUnits * bounds.maxFieldUses * maxBytesPerCodeUnit;
  if (maxBytes <= MAX_RENDERED_BYTES) return undefined;
  const sizes = new ValueSizes(compiled, values);
  return (
    checkPartSize('HTML', compiled.html ?? [], sizes) ??
    checkPartSize('text', compiled.text ?? [], sizes)
  );
}

function checkPartSize(
  part: OversizedPart['part'],
  nodes: readonly CompiledNode[],
  sizes: ValueSizes,
): OversizedPart | undefined {
  const used = new Map<string, { bytes: number; uses: number }>();
  let total = 0;
  const addField = (name: string, bytes: number): void => {
    const before = used.get(name) ?? { bytes: 0, uses: 0 };
    used.set(name, { bytes: before.bytes + bytes, uses: before.uses + 1 });
    total += bytes;
  };
  const visit = (list: readonly CompiledNode[]): void => {
    for (const node of list) {
      if (typeof node === 'string') total += Buffer.byteLength(node);
      else if (node.type === 'field') addField(node.name, sizes.bytesOf(node.name, node.as));
      else if (node.type === 'section') {
        if (sizes.shows(node.name, node.shown)) visit(node.nodes);
      } else if (node.type === 'url' && isAlwaysRendered(node, isFixedLink)) visitUrl(node);
    }
  };
  const visitUrl = ({ nodes: inside }: CompiledUrl): void => {
    for (const node of inside) {
      if (typeof node === 'string') total += Buffer.byteLength(node);
      else if (node.type === 'field') addField(node.name, sizes.bytesOf(node.name, 'plain'));
    }
  };
  const isFixedLink = (link: number): boolean => !sizes.compiled.links[link]?.trackable;
  visit(nodes);
  if (total <= MAX_RENDERED_BYTES) return undefined;
  const [largest] = [...used].sort(([, a], [, b]) => b.bytes - a.bytes);
  return { part, field: largest?.[0], uses: largest?.[1].uses ?? 0 };
}

/** True for a URL that no value can empty and no tracking link can replace. */
function isAlwaysRendered(
  { nodes, link }: CompiledUrl,
  hasFixedTarget: (link: number) => boolean,
): boolean {
  const [first] = nodes;
  const startsWithText = typeof first === 'string' && first.trim() !== '';
  return startsWithText && (link === undefined || hasFixedTarget(link));
}

/** The minimum number of bytes that each value renders to, measured once per value. */
class ValueSizes {
  readonly compiled: CompiledTemplate;
  readonly #values: Readonly<Record<string, string>>;
  readonly #defaults: ReadonlyMap<string, string>;
  readonly #sizes = new Map<string, number>();

  constructor(compiled: CompiledTemplate, values: Readonly<Record<string, string>>) {
    this.compiled = compiled;
    this.#values = values;
    this.#defaults = new Map(compiled.fields.map((field) => [field.name, field.default ?? '']));
  }

  bytesOf(name: string, as: string): number {
    // A style omits values that don't fit, and the service fills in its own fields later.
    if (as === 'css' || builtInFields.has(name)) return 0;
    const key = `${as === 'html' ? 'html' : 'plain'} ${name}`;
    const cached = this.#sizes.get(key);
    if (cached !== undefined) return cached;
    const value = this.#valueOf(name);
    const size = Buffer.byteLength(as === 'html' ? escapeHtml(value) : value);
    this.#sizes.set(key, size);
    return size;
  }

  /** True if a section is certain to be shown. */
  shows(name: string, shown: 'filled' | 'empty'): boolean {
    if (builtInFields.has(name)) return false;
    return (this.#valueOf(name) !== '') === (shown === 'filled');
  }

  #valueOf(name: string): string {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : this.#defaults.get(name);
    return normalizeValue(value ?? '');
  }
}
