import { MAX_RENDERED_TEXT } from '../template/template-limits.ts';
import type { ValueScope } from '../template/value-scope.ts';
import type { LoadedNode } from './load-template.ts';

/** The values of a message make one of its parts exceed the maximum size. */
export class RenderingTooLarge extends Error {
  override name = 'RenderingTooLarge';
  /** The field that takes the most space; undefined if the template is too large without values. */
  readonly field: string | undefined;

  constructor(part: 'HTML' | 'text', largest: LargestField | undefined) {
    super(
      `the ${part} would be larger than ${MAX_RENDERED_TEXT}${largest === undefined ? '' : `; ${describe(largest)}`}`,
    );
    this.field = largest?.name;
  }
}

/** The size of one field within a part. */
export interface LargestField {
  readonly name: string;
  /** Characters of its value; of a list or object, all that its sections show. */
  readonly length: number;
  /** Number of uses in the part; undefined for a list or object. */
  readonly uses: number | undefined;
}

function describe({ name, length, uses }: LargestField): string {
  if (uses === undefined) return `its largest field, ${name}, shows ${length} characters`;
  const times = uses === 1 ? 'once' : `${uses} times`;
  return `its largest field, ${name}, has ${length} characters and is used ${times}`;
}

/** Nodes with what the names in them mean. */
interface NamedValues {
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly scope: ValueScope;
}

/** Finds the field whose visible uses take the most characters. */
export function findLargestField(
  nodes: readonly LoadedNode[],
  top: NamedValues,
): LargestField | undefined {
  const uses = new Map<number, number>();
  const lists = new Map<string, number>();
  const visit = (list: readonly LoadedNode[], named: NamedValues, within?: string): void => {
    const { names, values, scope } = named;
    for (const node of list) {
      if (node.type === 'static') {
        if (within !== undefined) lists.set(within, (lists.get(within) ?? 0) + node.text.length);
      } else if (node.type === 'field') {
        if (within === undefined) uses.set(node.field, (uses.get(node.field) ?? 0) + 1);
        else lists.set(within, (lists.get(within) ?? 0) + (values[node.field]?.length ?? 0));
      } else if (node.type === 'url') visit(node.nodes, named, within);
      else if (node.type === 'section') {
        if ((values[node.field] !== '') === node.filled) visit(node.nodes, named, within);
      } else if (node.type === 'each')
        for (const record of scope.records(node.name)) {
          const inner = scope.enter(node.name, record);
          const texts = node.names.map((name) => inner.text(name));
          visit(node.nodes, { names, values: texts, scope: inner }, within ?? node.name);
        }
    }
  };
  visit(nodes, top);
  let largest: LargestField | undefined;
  let size = 0;
  for (const [field, count] of uses) {
    const length = top.values[field]?.length ?? 0;
    if (length * count > size) {
      size = length * count;
      largest = { name: top.names[field] ?? '', length, uses: count };
    }
  }
  for (const [name, length] of lists)
    if (length > size) {
      size = length;
      largest = { name, length, uses: undefined };
    }
  return largest;
}
