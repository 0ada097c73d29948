import type { CompiledNode } from '../template/compiled-template.ts';
import { formatValue } from '../template/field-format.ts';
import { MAX_FILLED_LINE } from '../template/template-limits.ts';
import type { ValueScope } from '../template/value-scope.ts';

/** Line breaks, other control characters and Unicode separators that some clients treat as line breaks. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

/**
 * Renders a single-line part, subject or preview text: values unescaped, line breaks as spaces. Stops after the value
 * that exceeds `MAX_FILLED_LINE`: no mail client shows that much.
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
  const add = (list: readonly CompiledNode[], scope: ValueScope): void => {
    for (const node of list) {
      if (text.length > MAX_FILLED_LINE) return;
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
