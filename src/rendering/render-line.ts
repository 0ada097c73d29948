import type { CompiledNode } from '../template/compiled-template.ts';
import { formatValue } from '../template/field-format.ts';
import { MAX_FILLED_LINE } from '../template/template-limits.ts';
import type { ValueScope } from '../template/value-scope.ts';

/** Line breaks, other control characters and Unicode separators that some clients treat as line breaks. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

/** Tags and texts in the sections of lists, which can add nothing to the line; lists of messages render one for each. */
const maxRepeated = 5_000;

/**
 * Renders a single-line part, subject or preview text: values unescaped, line breaks as spaces. Stops after the value
 * that exceeds `MAX_FILLED_LINE`, and after 5,000 tags and texts of items: no mail client shows that much.
 */
export function renderLine(
  nodes: readonly CompiledNode[],
  scope: ValueScope,
  locale: string,
): string {
  const [only] = nodes;
  const text = nodes.length === 1 && typeof only === 'string' ? only : fill(nodes, scope, locale);
  return oneLine(text);
}

/** Text that is safe in a header: no control characters, trimmed. */
export function oneLine(text: string): string {
  return text.replace(CONTROLS, ' ').trim();
}

function fill(nodes: readonly CompiledNode[], top: ValueScope, locale: string): string {
  let text = '';
  let repeated = 0;
  const add = (list: readonly CompiledNode[], scope: ValueScope): void => {
    for (const node of list) {
      if (scope !== top) repeated += 1;
      if (text.length > MAX_FILLED_LINE || repeated > maxRepeated) return;
      if (typeof node === 'string') text += node;
      else if (node.type === 'field') {
        const value = scope.text(node.name);
        text += node.format === undefined ? value : formatValue(node.format, value, locale);
      } else if (node.type === 'section') {
        if ((scope.text(node.name) !== '') === (node.shown === 'filled')) add(node.nodes, scope);
      } else if (node.type === 'each') {
        for (const record of scope.records(node.name))
          add(node.nodes, scope.enter(node.name, record));
      }
    }
  };
  add(nodes, top);
  return text;
}
