import type {
  CompiledLink,
  CompiledNode,
  CompiledTemplate,
  CompiledUrl,
} from '../template/compiled-template.ts';
import { escapeHtml } from '../template/escape-html.ts';
import type { FieldFormat } from '../template/field-format.ts';
import { type FieldIndex, indexFields, structuredFields } from '../template/field-index.ts';
import { textOfValue } from '../template/field-value.ts';
import { computeSizeBounds, type SizeBounds } from '../template/size-bounds.ts';
import { type EncodedText, encodeText } from './quoted-printable.ts';

/** Static text of a body with its encoded form, computed once per template version. */
export interface StaticText {
  readonly type: 'static';
  readonly text: string;
  readonly quotedPrintable: EncodedText;
}

/** A rendered body alternates between static text and text specific to this message. */
export type BodyPiece = StaticText | string;

export type LoadedNode =
  | StaticText
  | {
      readonly type: 'field';
      readonly field: number;
      readonly as: 'html' | 'raw' | 'plain' | 'text' | 'css' | 'url';
      readonly format?: FieldFormat;
    }
  | EachNode
  | {
      readonly type: 'section';
      readonly field: number;
      readonly filled: boolean;
      readonly nodes: readonly LoadedNode[];
    }
  | {
      readonly type: 'url';
      readonly as: 'attribute' | 'css' | 'plain';
      readonly nodes: readonly LoadedNode[];
      readonly link: CompiledLink | undefined;
    }
  | { readonly type: 'slot'; readonly slot: 'preview' | 'bodyEnd' };

/** Nodes that are rendered for each item of a list, or once for an object. */
export interface EachNode {
  readonly type: 'each';
  readonly name: string;
  /** The names that the nodes refer to by index: fields of the item, or of what is outside of it. */
  readonly names: readonly string[];
  readonly nodes: readonly LoadedNode[];
}

/** A template version in memory, ready to render. Load it once per version with `loadTemplate`. */
export interface LoadedTemplate {
  readonly compiled: CompiledTemplate;
  /** The names of all fields; nodes refer to fields by their index here. */
  readonly names: readonly string[];
  readonly defaults: readonly string[];
  readonly html: LoadedBody | null;
  readonly text: LoadedBody | null;
  readonly size: SizeBounds;
  readonly index: FieldIndex;
  /** Lists and objects; undefined where every field is a text. */
  readonly structured: FieldIndex | undefined;
}

/** A body in two forms: in the second, links that no value changes are static. */
export interface LoadedBody {
  readonly withLinks: readonly LoadedNode[];
  readonly withoutLinks: readonly LoadedNode[];
}

/** Prepares a compiled template version for rendering; costs about as much as encoding its HTML. */
export function loadTemplate(compiled: CompiledTemplate): LoadedTemplate {
  const names = compiled.fields.map(({ name }) => name);
  const load = bodyLoader(names, compiled.links);
  const index = indexFields(compiled.fields);
  return {
    compiled,
    names,
    defaults: compiled.fields.map((field) => textOfValue(field.default)),
    html: compiled.html && load(compiled.html),
    text: compiled.text && load(compiled.text),
    size: computeSizeBounds(compiled),
    index,
    structured: structuredFields(index),
  };
}

/** @returns loads a body with these fields and links */
function bodyLoader(names: readonly string[], tableOfLinks: readonly CompiledLink[]) {
  const topPlaces = new Map(names.map((name, index) => [name, index]));
  const top: NamePlaces = (name) => {
    const place = topPlaces.get(name);
    if (place === undefined) throw new Error(`compiled template does not list its field ${name}`);
    return place;
  };
  return (body: readonly CompiledNode[]): LoadedBody => {
    const withLinks = load(body, true, top);
    return {
      withLinks,
      withoutLinks: tableOfLinks.length === 0 ? withLinks : load(body, false, top),
    };
  };

  function load(nodes: readonly CompiledNode[], links: boolean, places: NamePlaces): LoadedNode[] {
    const loaded: LoadedNode[] = [];
    let text = '';
    const flush = (): void => {
      if (text !== '') loaded.push(staticText(text));
      text = '';
    };
    for (const node of nodes) {
      const fixed = fixedText(node, links);
      if (fixed !== undefined) {
        text += fixed;
        continue;
      }
      flush();
      loaded.push(loadNode(node as Exclude<CompiledNode, string>, links, places));
    }
    flush();
    return loaded;
  }

  /** The text of a node if it is the same in every message. */
  function fixedText(node: CompiledNode, links: boolean): string | undefined {
    if (typeof node === 'string') return node;
    if (node.type !== 'url') return undefined;
    if (links && linkOf(node)?.trackable === true) return undefined;
    if (!node.nodes.every((part) => typeof part === 'string')) return undefined;
    const url = node.nodes.join('');
    return node.as === 'plain' ? url : escapeHtml(url);
  }

  function linkOf({ link }: CompiledUrl): CompiledLink | undefined {
    return link === undefined ? undefined : tableOfLinks[link];
  }

  function loadNode(
    node: Exclude<CompiledNode, string>,
    links: boolean,
    places: NamePlaces,
  ): LoadedNode {
    if (node.type === 'slot') return node;
    if (node.type === 'url')
      return { ...node, nodes: load(node.nodes, links, places), link: linkOf(node) };
    if (node.type === 'each') return loadEach(node.name, node.nodes, links);
    const field = places(node.name);
    if (node.type === 'field') {
      const { as, format } = node;
      return format === undefined
        ? { type: 'field', field, as }
        : { type: 'field', field, as, format };
    }
    const nodes = load(node.nodes, links, places);
    return { type: 'section', field, filled: node.shown === 'filled', nodes };
  }

  function loadEach(name: string, inner: readonly CompiledNode[], links: boolean): EachNode {
    const places = new Map<string, number>();
    const nodes = load(inner, links, (used) => {
      const place = places.get(used) ?? places.size;
      places.set(used, place);
      return place;
    });
    return { type: 'each', name, names: [...places.keys()], nodes };
  }
}

/** The index by which nodes refer to a name. */
type NamePlaces = (name: string) => number;

/** Static text with its encoded form. */
export function staticText(text: string): StaticText {
  return { type: 'static', text, quotedPrintable: encodeText(text) };
}
