import type { TagProblems } from './compile-problems.ts';
import type { CompiledNode, CompiledSection } from './compiled-template.ts';
import type { MarkupTag } from './parse-markup.ts';

interface OpenSection {
  readonly tag: MarkupTag;
  readonly scope: string;
  readonly outer: CompiledNode[];
}

/**
 * Builds the tree of a part from what stands in a row in it. Sections have to end where they began:
 * in the same scope, such as one attribute or the text of the document, and in the right order, so
 * that leaving their inside out never changes what the places after it are.
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
      this.#problems.error(tag, 'section-torn', 'has lost the beginning of its section');
      return;
    }
    if (section.tag.name !== tag.name || section.scope !== scope) {
      this.#problems.error(
        section.tag,
        'section-torn',
        'has to end where it begins: in the same attribute, or in text as it begins in text',
      );
    }
    const node: CompiledSection = {
      type: 'section',
      name: section.tag.name,
      shown: section.tag.kind === 'empty' ? 'empty' : 'filled',
      nodes: this.#nodes,
    };
    this.#nodes = section.outer;
    this.add(node);
  }

  finish(): CompiledNode[] {
    for (const { tag } of this.#open) {
      this.#problems.error(
        tag,
        'section-torn',
        'has to end where it begins: in the same attribute, or in text as it begins in text',
      );
    }
    return this.#nodes;
  }
}
