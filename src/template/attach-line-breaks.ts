import type { CompiledNode, CompiledSection } from './compiled-template.ts';

/** What a reader has seen just before a position: text on the same line, a line break or a blank line. */
type PrecedingText = 'words' | 'line' | 'blank';

/**
 * A section on separate lines includes the line breaks after it, so hiding it leaves no gap. A section that is one line
 * of a paragraph leaves the blank line after that paragraph alone. A list repeats one line break with each item;
 * what else follows is shown once.
 */
export function attachLineBreaks(
  nodes: readonly CompiledNode[],
  initial: PrecedingText,
  isRepeated: (name: string) => boolean,
): CompiledNode[] {
  const result: CompiledNode[] = [];
  const rest = nodes.slice();
  let before = initial;
  for (let node = rest.shift(); node !== undefined; node = rest.shift()) {
    if (node === '') continue;
    if (typeof node === 'string' || node.type !== 'section') {
      before = afterNode(node);
      result.push(node);
      continue;
    }
    const inside = attachLineBreaks(node.nodes, before, isRepeated);
    const [next] = rest;
    const alone = before === 'blank' || (before === 'line' && !endsLine(inside));
    const breaks = alone && typeof next === 'string' ? (/^\n+/.exec(next)?.[0] ?? '') : '';
    if (typeof next === 'string') rest[0] = next.slice(breaks.length);
    const isList = node.shown === 'filled' && isRepeated(node.name);
    const repeated = isList ? (endsLine(inside) ? 0 : 1) : breaks.length;
    const whole = appendText(inside, breaks.slice(0, repeated));
    result.push({ ...node, nodes: whole });
    if (repeated < breaks.length) result.push(shownOnce(node, breaks.slice(repeated)));
    if (!endsLine(whole)) before = 'words';
  }
  return result;
}

/** Shown behind a list, unless it is empty. */
function shownOnce({ name }: CompiledSection, text: string): CompiledNode {
  return { type: 'section', name, shown: 'filled', nodes: [text], once: true };
}

function afterNode(node: CompiledNode): PrecedingText {
  if (typeof node !== 'string' || !node.endsWith('\n')) return 'words';
  return node.endsWith('\n\n') ? 'blank' : 'line';
}

function endsLine(nodes: readonly CompiledNode[]): boolean {
  const last = nodes.at(-1);
  if (typeof last === 'string') return last.endsWith('\n');
  return last?.type === 'section' && endsLine(last.nodes);
}

function appendText(nodes: readonly CompiledNode[], text: string): CompiledNode[] {
  const last = nodes.at(-1);
  if (text === '') return nodes.slice();
  return typeof last === 'string' ? [...nodes.slice(0, -1), last + text] : [...nodes, text];
}
