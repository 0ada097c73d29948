import type { AccountId, TemplateId } from '../../base/values/ids.ts';
import type { FieldKind, FieldValue } from './field-value.ts';

/** Identifies a template of an account. */
export interface TemplateRef {
  readonly accountId: AccountId;
  readonly templateId: TemplateId;
}

/** Identifies a version of a template. */
export interface TemplateVersionRef extends TemplateRef {
  readonly version: number;
}

/** The author's settings for one field. */
export interface FieldSettings extends ItemFieldSettings {
  /** Values are masked wherever people see them, and links that contain it are never tracked. */
  readonly secret?: boolean;
  /** Its values are one-time links, which mails replace by links to a page of this service; it is also secret. */
  readonly guard?: boolean | { readonly days?: number };
}

/** Settings of a field of items; a secret hides a list as a whole. */
export interface ItemFieldSettings {
  /** Default: text. */
  readonly kind?: FieldKind;
  /** Used if a request supplies no value; may be empty. */
  readonly default?: FieldValue;
  /** For previews and examples. */
  readonly sample?: FieldValue;
  readonly description?: string;
  /** The fields of a list's items, or of an object. */
  readonly fields?: Readonly<Record<string, ItemFieldSettings>>;
}

/** What a message says. It has at least one of `html`, `mjml` and `text`, and not both `html` and `mjml`. */
export interface VariantSource {
  readonly subject: string;
  readonly previewText?: string;
  readonly html?: string;
  readonly mjml?: string;
  readonly text?: string;
}

/** A template to publish. */
export interface TemplateSource extends VariantSource {
  readonly fields?: Readonly<Record<string, FieldSettings>>;
  /** The language of its own content (BCP 47). */
  readonly locale?: string;
  /** The content in other languages, by locale; all use the same fields. */
  readonly variants?: Readonly<Record<string, VariantSource>>;
  readonly images?: readonly TemplateImage[];
}

/** An image that the HTML shows as `cid:…`; its content is stored by its hash. */
export interface TemplateImage {
  readonly contentId: string;
  readonly filename: string;
  readonly contentType: string;
  /** Bytes of the content. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}
