import type { TagProblems } from './compile-problems.ts';
import type {
  CompiledFieldNode,
  CompiledNode,
  CompiledSection,
  EscapeContext,
} from './compiled-template.ts';
import type { MarkupTag } from './parse-markup.ts';

/** The node of a field's tag. */
export function fieldNode(tag: MarkupTag, as: EscapeContext): CompiledFieldNode {
  const { name, format, start } = tag;
  return { type: 'field', name, as, ...(format === undefined ? {} : { format }), at: start };
}

interface OpenSection {
  readonly tag: MarkupTag;
  readonly scope: string;
  readonly outer: CompiledNode[];
}

/**
 * Builds the node tree of a part from its flat sequence of tags and text. A section must end in the scope where it
 * began (an attribute, the text of the document) and in order, so that hiding it never changes the context of what
 * follows.
 */
export class NodeTreeBuilder {
  readonly #problems: TagProblems;
  readonly #open: OpenSection[] = [];
  #nodes: CompiledNode[] = [];

  constructor(problems: TagProblems) {
    this.#problems = problems;
  }

  add(node: CompiledNode): void {
    const last = this.#nodes.at(-1);
    if (node === '') return;
    if (typeof node === 'string' && typeof last === 'string') {
      this.#nodes[this.#nodes.length - 1] = last + node;
    } else this.#nodes.push(node);
  }

  open(tag: MarkupTag, scope: string): void {
    this.#open.push({ tag, scope, outer: this.#nodes });
    this.#nodes = [];
  }

  close(tag: MarkupTag, scope: string): void {
    const section = this.#open.pop();
    if (section === undefined) {
      this.#problems.error(tag, 'section-torn', 'is missing the start of its section');
      return;
    }
    if (section.tag.name !== tag.name || section.scope !== scope) {
      this.#problems.error(
        section.tag,
        'section-torn',
        'must end where it begins: in the same attribute, or in text if it begins in text',
      );
    }
    const node: CompiledSection = {
      type: 'section',
      name: section.tag.name,
      shown: section.tag.kind === 'empty' ? 'empty' : 'filled',
      nodes: this.#nodes,
      at: section.tag.start,
    };
    this.#nodes = section.outer;
    this.add(node);
  }

  finish(): CompiledNode[] {
    for (const { tag } of this.#open) {
      this.#problems.error(
        tag,
        'section-torn',
        'must end where it begins: in the same attribute, or in text if it begins in text',
      );
    }
    return this.#nodes;
  }
}
