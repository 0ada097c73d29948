/** What the people who write a template say about one of its fields. */
export interface FieldSettings {
  /** Taken when a request gives no value; may be empty. */
  readonly default?: string;
  /** For previews and examples. */
  readonly sample?: string;
  readonly description?: string;
  /** Values are masked wherever people look, links with it are never tracked. */
  readonly secret?: boolean;
}

/** A template as it is published. At least one of `html`, `mjml`, `text`; not both of the first two. */
export interface TemplateSource {
  readonly subject: string;
  readonly previewText?: string;
  readonly html?: string;
  readonly mjml?: string;
  readonly text?: string;
  readonly fields?: Readonly<Record<string, FieldSettings>>;
}
