/** The author's settings for one field. */
export interface FieldSettings {
  /** Used if a request supplies no value; may be empty. */
  readonly default?: string;
  /** For previews and examples. */
  readonly sample?: string;
  readonly description?: string;
  /** Values are masked wherever people see them, and links that contain it are never tracked. */
  readonly secret?: boolean;
}

/** A template to publish. It has at least one of `html`, `mjml` and `text`, and not both `html` and `mjml`. */
export interface TemplateSource {
  readonly subject: string;
  readonly previewText?: string;
  readonly html?: string;
  readonly mjml?: string;
  readonly text?: string;
  readonly fields?: Readonly<Record<string, FieldSettings>>;
}
