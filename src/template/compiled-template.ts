import type { TemplatePart } from './template-problem.ts';

/**
 * A published template version: everything that sending needs, and nothing that it could compute
 * itself per version. Plain JSON, kept as `jsonb`; order of object keys means nothing in it.
 */
export interface CompiledTemplate {
  readonly format: 1;
  readonly subject: readonly CompiledNode[];
  /** Empty when the template has no preview text. */
  readonly previewText: readonly CompiledNode[];
  /** `null`: the template has no such part. One of the two is always there. */
  readonly html: readonly CompiledNode[] | null;
  readonly text: readonly CompiledNode[] | null;
  readonly fields: readonly CompiledField[];
  readonly required: RequiredNames;
  /** The links of the HTML part in their order; a link's place in this list is its `index`. */
  readonly links: readonly CompiledLink[];
}

export type FieldPart = Extract<TemplatePart, 'subject' | 'previewText' | 'html' | 'text'>;

export interface CompiledField {
  readonly name: string;
  readonly parts: readonly FieldPart[];
  readonly default?: string;
  readonly secret: boolean;
}

/** Names that need a value from the request, as they have no default: by where they are used. */
export interface RequiredNames {
  readonly subject: readonly string[];
  readonly previewText: readonly string[];
  /** HTML and text parts. */
  readonly body: readonly string[];
}

/** How a value is escaped at its place. */
export type EscapeContext =
  /** In HTML text or a quoted attribute. */
  | 'html'
  /** `{{{…}}}` in HTML text: as it is. */
  | 'raw'
  /** In the subject, preview text and text part: as it is. */
  | 'plain'
  /** In a `style` attribute: letters, digits and a few signs, or nothing. */
  | 'css'
  /** Within a `CompiledUrl`, whose rules it follows. */
  | 'url';

interface CompiledFieldNode {
  readonly type: 'field';
  readonly name: string;
  readonly as: EscapeContext;
}

export interface CompiledSection {
  readonly type: 'section';
  readonly name: string;
  readonly shown: 'filled' | 'empty';
  readonly nodes: readonly CompiledNode[];
}

/**
 * An address as a whole: a URL attribute, `url(…)` in a style, or a link in a derived text part. Its
 * strings are the bare URL; what the place needs (HTML escaping) is done to the finished URL.
 */
export interface CompiledUrl {
  readonly type: 'url';
  readonly as: 'attribute' | 'css' | 'plain';
  readonly nodes: readonly CompiledNode[];
  /** Place in `links`, where this is the target of a link of the HTML part. */
  readonly link?: number;
}

/** Where sending puts something of its own: the hidden preview text, and what goes before the end of the body. */
interface CompiledSlot {
  readonly type: 'slot';
  readonly slot: 'preview' | 'bodyEnd';
}

/** A string stands as it is at its place. */
export type CompiledNode =
  | string
  | CompiledFieldNode
  | CompiledSection
  | CompiledUrl
  | CompiledSlot;

export interface CompiledLink {
  readonly index: number;
  /** The target as written, with its fields as `{{Name}}`. */
  readonly target: string;
  /** Fields that the target is made of. */
  readonly fields: readonly string[];
  /** One of these fields is secret; such a link is never tracked. */
  readonly secret: boolean;
  /** May be replaced by a tracking link: not secret, not `data-track="off"`, not bound to another scheme than http(s). */
  readonly trackable: boolean;
}
