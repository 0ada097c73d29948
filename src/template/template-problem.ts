/** The part of a template that a problem or a field's use is in. */
export type TemplatePart = 'subject' | 'previewText' | 'html' | 'mjml' | 'text' | 'fields';

/** What is wrong with a template, in words for the person who wrote it. */
export interface TemplateProblem {
  /** An error stops the publication, a warning does not. */
  readonly severity: 'error' | 'warning';
  readonly part: TemplatePart;
  /** Stable name of the rule, for programs. */
  readonly rule: string;
  readonly message: string;
  /** Place in the source of that part, counted from 1; absent where the problem has none. */
  readonly line?: number;
  readonly column?: number;
}

export interface SourcePosition {
  readonly line: number;
  /** In code points. */
  readonly column: number;
}

/** Line and column of an offset (in UTF-16 units) of a source. */
export function sourcePositionOf(source: string, offset: number): SourcePosition {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line += 1;
  return { line, column: Array.from(before.slice(lineStart)).length + 1 };
}
