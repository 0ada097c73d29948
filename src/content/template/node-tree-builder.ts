import type { TagProblems } from './compile-problems.ts';
import type { CompiledNode, CompiledSection, EscapeContext } from './compiled-template.ts';
import type { MarkupTag } from './parse-markup.ts';

interface OpenSection {
  readonly tag: MarkupTag;
  readonly scope: string;
  readonly outer: CompiledNode[];
}

const tornSection =
  'must end where it begins: in the same attribute, or in text if it begins in text';

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

  /** Adds a field, or opens or closes a section. @param as how the field is escaped */
  addTag(tag: MarkupTag, scope: string, as: EscapeContext): void {
    const { kind, name, format, start } = tag;
    if (kind === 'close') this.#close(tag, scope);
    else if (kind === 'filled' || kind === 'empty') {
      this.#open.push({ tag, scope, outer: this.#nodes });
      this.#nodes = [];
    } else this.add({ type: 'field', name, as, ...(format && { format }), at: start });
  }

  #close(tag: MarkupTag, scope: string): void {
    const section = this.#open.pop();
    if (section === undefined) {
      this.#problems.error(tag, 'section-torn', 'is missing the start of its section');
      return;
    }
    if (section.tag.name !== tag.name || section.scope !== scope) {
      this.#problems.error(section.tag, 'section-torn', tornSection);
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
    for (const { tag } of this.#open) this.#problems.error(tag, 'section-torn', tornSection);
    return this.#nodes;
  }
}
