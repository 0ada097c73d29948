import { classifyAttribute, compileAttribute } from './compile-attribute.ts';
import type { TagProblems } from './compile-problems.ts';
import type { CompiledLink, CompiledNode, CompiledUrl } from './compiled-template.ts';
import {
  type AttributeRange,
  type HtmlMap,
  isLinkTarget,
  isTrackingOff,
  mapHtml,
  type TextRange,
} from './map-html.ts';
import { NodeTreeBuilder } from './node-tree-builder.ts';
import type { MarkupTag } from './parse-markup.ts';
import type { FoundTag, TagPlaceholders } from './protect-markup.ts';

export interface CompiledHtml {
  readonly nodes: readonly CompiledNode[];
  readonly links: readonly CompiledLink[];
}

/**
 * Compiles the finished HTML of a template, in which placeholders stand for its tags: decides how each field is
 * escaped, rejects fields where no escaping is safe, and lists the links.
 */
export function compileHtml(
  html: string,
  placeholders: TagPlaceholders,
  isSecret: (name: string) => boolean,
  problems: TagProblems,
): CompiledHtml {
  const compiler = new HtmlCompiler(html, placeholders, isSecret, problems);
  return { nodes: compiler.compile(), links: compiler.links };
}

type Piece =
  | { readonly at: number; readonly end: number; readonly attribute: AttributeRange }
  | { readonly at: number; readonly end: number; readonly text: TextRange; readonly tag: MarkupTag }
  | { readonly at: number; readonly end: number; readonly slot: 'preview' | 'bodyEnd' };

class HtmlCompiler {
  readonly links: CompiledLink[] = [];
  readonly #html: string;
  readonly #placeholders: TagPlaceholders;
  readonly #isSecret: (name: string) => boolean;
  readonly #problems: TagProblems;
  readonly #tree: NodeTreeBuilder;

  constructor(
    html: string,
    placeholders: TagPlaceholders,
    isSecret: (name: string) => boolean,
    problems: TagProblems,
  ) {
    this.#html = html;
    this.#placeholders = placeholders;
    this.#isSecret = isSecret;
    this.#problems = problems;
    this.#tree = new NodeTreeBuilder(problems);
  }

  compile(): CompiledNode[] {
    let from = 0;
    for (const piece of this.#pieces(mapHtml(this.#html))) {
      this.#tree.add(this.#html.slice(from, piece.at));
      from = piece.end;
      if ('slot' in piece) this.#tree.add({ type: 'slot', slot: piece.slot });
      else if ('tag' in piece) {
        const { tag, text } = piece;
        this.#tree.addTag(tag, text.scope, tag.kind === 'raw' && text.markup ? 'raw' : 'html');
      } else for (const node of this.#attribute(piece.attribute)) this.#tree.add(node);
    }
    this.#tree.add(this.#html.slice(from));
    return this.#tree.finish();
  }

  /** Everything that isn't static, in document order. */
  #pieces(map: HtmlMap): Piece[] {
    const tags = this.#placeholders.find(this.#html);
    const pieces: Piece[] = [
      { at: map.bodyStart, end: map.bodyStart, slot: 'preview' },
      { at: map.bodyEnd, end: map.bodyEnd, slot: 'bodyEnd' },
    ];
    let next = 0;
    const rejectUntil = (offset: number): void => {
      for (let found = tags[next]; found !== undefined && found.start < offset; ) {
        this.#reject(found, map);
        next += 1;
        found = tags[next];
      }
    };
    for (const range of map.ranges) {
      rejectUntil(range.start);
      if (range.kind === 'attribute' && !range.quoted) {
        rejectUntil(range.end);
        if (isLinkTarget(range) && this.#placeholders.find(range.value).length === 0) {
          pieces.push({ at: range.start, end: range.end, attribute: range });
        }
        continue;
      }
      const inside: FoundTag[] = [];
      for (let found = tags[next]; found !== undefined && found.end <= range.end; ) {
        inside.push(found);
        next += 1;
        found = tags[next];
      }
      if (range.kind === 'attribute') {
        if (inside.length > 0 || isLinkTarget(range)) {
          pieces.push({ at: range.start, end: range.end, attribute: range });
        }
      } else {
        for (const { start, end, tag } of inside) pieces.push({ at: start, end, text: range, tag });
      }
    }
    rejectUntil(Number.POSITIVE_INFINITY);
    return pieces.sort((a, b) => a.at - b.at || a.end - b.end);
  }

  #reject({ tag, start }: FoundTag, map: HtmlMap): void {
    const what = tag.kind === 'field' || tag.kind === 'raw' ? 'a field' : 'a section';
    this.#problems.error(
      tag,
      'field-place',
      `is in ${this.#placeholders.reveal(map.describe(start))}: ${what} is only allowed in text or in a quoted attribute value`,
    );
  }

  #attribute(range: AttributeRange): CompiledNode[] {
    const nodes = compileAttribute(
      range,
      classifyAttribute(range),
      this.#placeholders,
      this.#problems,
    );
    const [url] = nodes;
    if (!isLinkTarget(range) || typeof url !== 'object' || url.type !== 'url') return nodes;
    const link = this.#link(range, url);
    return range.quoted ? [link] : ['"', link, '"'];
  }

  #link(range: AttributeRange, url: CompiledUrl): CompiledUrl {
    const { value } = range;
    const index = this.links.length;
    const fields = Array.from(new Set(this.#placeholders.find(value).map(({ tag }) => tag.name)));
    const secret = fields.some(this.#isSecret);
    const target = this.#placeholders.reveal(value);
    const trackable = !secret && !isTrackingOff(range) && /^\s*(https?:|\{\{)/i.test(target);
    this.links.push({ index, target, fields, secret, trackable });
    return { ...url, link: index };
  }
}
