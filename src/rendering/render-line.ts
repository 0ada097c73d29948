import type { CompiledNode } from '../template/compiled-template.ts';
import { MAX_FILLED_LINE } from '../template/template-limits.ts';

/** Line breaks, other controls and the separators that some readers break lines at. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

/**
 * Renders a part that is one line, subject or preview text: values as they are, line breaks as spaces. Nothing follows a value
 * that makes it longer than `MAX_FILLED_LINE`: no reader shows as much of either.
 */
export function renderLine(
  nodes: readonly CompiledNode[],
  lookUp: (name: string) => string,
): string {
  const [only] = nodes;
  const text = nodes.length === 1 && typeof only === 'string' ? only : fill(nodes, lookUp);
  return oneLine(text);
}

/** Text as it can stand in a header: no controls, no space around it. */
export function oneLine(text: string): string {
  return text.replace(CONTROLS, ' ').trim();
}

function fill(nodes: readonly CompiledNode[], lookUp: (name: string) => string): string {
  let text = '';
  const add = (list: readonly CompiledNode[]): void => {
    for (const node of list) {
      if (text.length > MAX_FILLED_LINE) return;
      if (typeof node === 'string') text += node;
      else if (node.type === 'field') text += lookUp(node.name);
      else if (node.type === 'section') {
        if ((lookUp(node.name) !== '') === (node.shown === 'filled')) add(node.nodes);
      }
    }
  };
  add(nodes);
  return text;
}
