import { MAX_RENDERED_TEXT } from '../template/template-limits.ts';
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
  /** Characters of its value. */
  readonly length: number;
  /** Number of uses in the part. */
  readonly uses: number;
}

function describe({ name, length, uses }: LargestField): string {
  const times = uses === 1 ? 'once' : `${uses} times`;
  return `its largest field, ${name}, has ${length} characters and is used ${times}`;
}

/** Finds the field whose visible uses take the most characters. */
export function findLargestField(
  nodes: readonly LoadedNode[],
  names: readonly string[],
  values: readonly string[],
): LargestField | undefined {
  const uses = new Map<number, number>();
  const visit = (list: readonly LoadedNode[]): void => {
    for (const node of list) {
      if (node.type === 'field') uses.set(node.field, (uses.get(node.field) ?? 0) + 1);
      else if (node.type === 'url') visit(node.nodes);
      else if (node.type === 'section' && (values[node.field] !== '') === node.filled)
        visit(node.nodes);
    }
  };
  visit(nodes);
  let largest: LargestField | undefined;
  for (const [field, count] of uses) {
    const length = values[field]?.length ?? 0;
    if (length * count > (largest === undefined ? 0 : largest.length * largest.uses))
      largest = { name: names[field] ?? '', length, uses: count };
  }
  return largest;
}
