import { blankComments } from './blank-comments.ts';
import { sourcePositionOf } from './template-problem.ts';

/** Never matches past the next `<`, so a source without `>` costs no more than any other. */
const MJML_TAG = /<(\/?)(mjml|mj-[\w-]+)\b((?:"[^"<]*"|'[^'<]*'|[^"'<>])*)>/gi;

/**
 * Finds the first MJML element that is not closed, or is closed without having been opened. MJML itself would
 * silently drop everything after it.
 */
export function findUnclosedElement(mjml: string): { name: string; line: number } | undefined {
  const source = blankComments(mjml);
  const open: { name: string; at: number }[] = [];
  for (const match of source.matchAll(MJML_TAG)) {
    const [, slash, name = '', attributes = ''] = match;
    if (slash === '/') {
      const last = open.pop();
      if (last === undefined) return { name, line: sourcePositionOf(source, match.index).line };
      if (last.name !== name)
        return { name: last.name, line: sourcePositionOf(source, last.at).line };
    } else if (!attributes.endsWith('/')) open.push({ name, at: match.index });
  }
  const last = open.at(-1);
  return last === undefined
    ? undefined
    : { name: last.name, line: sourcePositionOf(source, last.at).line };
}
