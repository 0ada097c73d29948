/** The part of a template that contains a problem or uses a field. */
export type TemplatePart =
  | 'subject'
  | 'previewText'
  | 'html'
  | 'mjml'
  | 'text'
  | 'fields'
  | 'locale'
  | 'variants';

/** A problem of a template, worded for its author. */
export interface TemplateProblem {
  /** Errors prevent publishing, warnings don't. */
  readonly severity: 'error' | 'warning';
  readonly part: TemplatePart;
  /** The locale of the variant that has it; absent: the default content, or the template as a whole. */
  readonly variant?: string;
  /** Stable rule name for programs. */
  readonly rule: string;
  readonly message: string;
  /** Position in the source of that part, starting at 1; absent if the problem has none. */
  readonly line?: number;
  readonly column?: number;
}

export interface SourcePosition {
  readonly line: number;
  /** In code points. */
  readonly column: number;
}

/** Line and column of an offset (in UTF-16 units) in a source. */
export function sourcePositionOf(source: string, offset: number): SourcePosition {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line += 1;
  return { line, column: Array.from(before.slice(lineStart)).length + 1 };
}
