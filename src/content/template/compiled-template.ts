import type { FieldFormat } from './field-format.ts';
import type { FieldKind, FieldValue } from './field-value.ts';
import type { TemplatePart } from './template-problem.ts';
import type { TemplateImage } from './template-source.ts';

/**
 * A published template version: everything that sending needs to know about it. Plain JSON, stored as `jsonb`, so the
 * order of object keys has no meaning.
 */
export interface CompiledTemplate {
  /** How its markup is read: 1 knows no helpers, so `{{date "long" Due}}` is a field of that name. */
  readonly format: MarkupFormat;
  readonly subject: readonly CompiledNode[];
  /** Empty if the template has no preview text. */
  readonly previewText: readonly CompiledNode[];
  /** `null`: the template has no such part. At least one of the two is set. */
  readonly html: readonly CompiledNode[] | null;
  readonly text: readonly CompiledNode[] | null;
  readonly fields: readonly CompiledField[];
  /** See `secretNamesOf`; never stored. */
  readonly secretNames?: readonly string[];
  /** How many days the links of guarded fields work, used or not, by name; absent: there are none. */
  readonly guards?: Readonly<Record<string, number>>;
  readonly required: RequiredNames;
  /** Absent: no list, object or helper is used. */
  readonly uses?: PartUses;
  /** The links of the HTML part in document order; a link's position is its `index`. */
  readonly links: readonly CompiledLink[];
  /** Images that the HTML part shows; absent: none. */
  readonly images?: readonly TemplateImage[];
  /** The language of this content; absent: not declared. */
  readonly locale?: string;
  /** The locales of its variants; absent: there are none. */
  readonly locales?: readonly string[];
}

/** The content of a version in another language; its fields are those of the version. */
export type CompiledVariant = Pick<
  CompiledTemplate,
  'subject' | 'previewText' | 'html' | 'text' | 'links' | 'images'
>;

/** A version with all its variants, as it is compiled. */
export interface CompiledVersion extends CompiledTemplate {
  /** By locale. */
  readonly variants?: Readonly<Record<string, CompiledVariant>>;
}

export type MarkupFormat = 1 | 2;

/** The format of new versions. */
export const currentFormat: MarkupFormat = 2;

export type FieldPart = Extract<TemplatePart, 'subject' | 'previewText' | 'html' | 'text'>;

export interface CompiledField {
  readonly name: string;
  readonly parts: readonly FieldPart[];
  readonly default?: FieldValue;
  readonly secret: boolean;
  /** Absent: text. */
  readonly kind?: Exclude<FieldKind, 'text'>;
  /** Of the items of a list, or of an object. */
  readonly fields?: readonly CompiledField[];
  /** A field of items that isn't declared: where an item lacks it, a value from outside will do. */
  readonly outside?: boolean;
}

/** Names that need a value from the request because they have no default, by where they are used. */
export interface RequiredNames {
  readonly subject: readonly string[];
  readonly previewText: readonly string[];
  /** HTML and text parts. */
  readonly body: readonly string[];
}

/** What the values of lists and objects need, and what helpers read. */
export interface FieldUses {
  readonly required: readonly RequiredItemField[];
  readonly formatted: readonly FormattedField[];
}

/** Uses by where they are, as `RequiredNames`. */
export type PartUses = Readonly<Record<keyof RequiredNames, FieldUses>>;

/** A place in the values. */
interface FieldPlace {
  /** The lists and objects around it, the outermost first. */
  readonly path: readonly string[];
  readonly name: string;
}

/** A field that each item needs a value of. */
export interface RequiredItemField extends FieldPlace {
  /** A value from outside will do. */
  readonly outside: boolean;
}

/** A field that a helper reads. */
export interface FormattedField extends FieldPlace {
  readonly format: FieldFormat;
}

/** How a value is escaped. */
export type EscapeContext =
  /** In HTML text or a quoted attribute. */
  | 'html'
  /** `{{{…}}}` in HTML text: not escaped. */
  | 'raw'
  /** In the subject, preview text and text part: not escaped. */
  | 'plain'
  /** `{{{…}}}` in a text part that is derived from the HTML: the value's HTML as text. */
  | 'text'
  /** In a `style` attribute: letters, digits and a few symbols, otherwise omitted. */
  | 'css'
  /** Inside a `CompiledUrl`, which defines the rules. */
  | 'url';

export interface CompiledFieldNode {
  readonly type: 'field';
  readonly name: string;
  readonly as: EscapeContext;
  /** The helper that formats the value. */
  readonly format?: FieldFormat;
  /** Offset of the tag in its source; only while compiling. */
  readonly at?: number;
}

export interface CompiledSection {
  readonly type: 'section';
  readonly name: string;
  readonly shown: 'filled' | 'empty';
  readonly nodes: readonly CompiledNode[];
  /** As that of a field. */
  readonly at?: number;
  /** Not repeated for the items of a list; only while compiling. */
  readonly once?: boolean;
}

/** Shown for each item of a list, or once for an object that isn't empty. */
interface CompiledEach {
  readonly type: 'each';
  readonly name: string;
  readonly nodes: readonly CompiledNode[];
}

/**
 * A whole URL: a URL attribute, `url(…)` in a style, or a link in a derived text part. Its strings are unescaped; the
 * finished URL is escaped for its context.
 */
export interface CompiledUrl {
  readonly type: 'url';
  readonly as: 'attribute' | 'css' | 'plain';
  readonly nodes: readonly CompiledNode[];
  /** Index in `links`, if this is the target of a link of the HTML part. */
  readonly link?: number;
}

/** Where sending inserts its own content: the hidden preview text, and HTML before the end of the body. */
interface CompiledSlot {
  readonly type: 'slot';
  readonly slot: 'preview' | 'bodyEnd';
}

/** A string is output unchanged. */
export type CompiledNode =
  | string
  | CompiledFieldNode
  | CompiledSection
  | CompiledEach
  | CompiledUrl
  | CompiledSlot;

export interface CompiledLink {
  readonly index: number;
  /** The target as written, with its fields as `{{Name}}`. */
  readonly target: string;
  /** Fields used in the target. */
  readonly fields: readonly string[];
  /** One of these fields is secret, so the link is never tracked. */
  readonly secret: boolean;
  /**
   * May be replaced by a tracking link: not secret, not `data-track="off"`, and http or https if the scheme is fixed.
   */
  readonly trackable: boolean;
}
