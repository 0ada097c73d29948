import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { Block, MarkupKind } from './blocks.ts';

type SyntaxNode = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>;

/** Max milliseconds to parse the rest of a long source. */
const parseMs = 500;

/** Elements of HTML that hold blocks. */
const htmlContainers = new Set(['body', 'center', 'div', 'main', 'section', 'td', 'th']);

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/**
 * Where a block goes: after the block that the cursor is in, or else at the end of the email. In MJML, sections go into the body
 * and other blocks into a column.
 */
export function placeBlock(state: EditorState, block: Block, markup: MarkupKind): Insertion {
  const tree = ensureSyntaxTree(state, state.doc.length, parseMs) ?? syntaxTree(state);
  const { head } = state.selection.main;
  const around: SyntaxNode[] = [];
  for (let node: SyntaxNode | null = tree.resolveInner(head, -1); node !== null; node = node.parent)
    if (node.name === 'Element') around.push(node);
  const holds = (name: string) =>
    markup === 'html' && !block.isSection
      ? htmlContainers.has(name)
      : name === containerOf(block, markup);
  // At the end of an element, the cursor isn't inside it anymore.
  const inside = around.findIndex((node) => node.to > head && holds(nameOf(node, state)));
  const neighbor = around[inside - 1];
  if (inside > 0 && neighbor !== undefined)
    return onLineAfter(state, neighbor.to, indentAt(state, neighbor.from), block[markup]);
  if (inside === 0 && isBlank(state, head))
    return { at: head, text: indented(block[markup], indentAt(state, head)).trimStart() };
  const container = around[inside] ?? lastElement(tree.topNode, state, containerOf(block, markup));
  const close = container?.getChild('CloseTag');
  if (container !== undefined && close !== null && close !== undefined)
    return onLineBefore(state, close.from, block[markup]);
  if (markup === 'mjml' && !block.isSection) return placeBlock(state, inOwnSection(block), markup);
  return onLineAfter(state, state.doc.length, '', block[markup]);
}

function containerOf({ isSection }: Block, markup: MarkupKind): string {
  if (markup === 'html') return 'body';
  return isSection ? 'mj-body' : 'mj-column';
}

function inOwnSection({ mjml, html }: Block): Block {
  const column = `<mj-section>\n  <mj-column>\n${indented(mjml, '    ')}\n  </mj-column>\n</mj-section>`;
  return { isSection: true, mjml: column, html };
}

function nameOf(element: SyntaxNode, state: EditorState): string {
  const tag = (element.getChild('OpenTag') ?? element.getChild('SelfClosingTag'))?.getChild(
    'TagName',
  );
  return tag ? state.sliceDoc(tag.from, tag.to).toLowerCase() : '';
}

function lastElement(top: SyntaxNode, state: EditorState, name: string): SyntaxNode | undefined {
  let last: SyntaxNode | undefined;
  const cursor = top.cursor();
  do {
    if (cursor.name === 'Element' && nameOf(cursor.node, state) === name) last = cursor.node;
  } while (cursor.next());
  return last;
}

function indentAt(state: EditorState, at: number): string {
  return /^\s*/.exec(state.doc.lineAt(at).text)?.[0] ?? '';
}

function indented(text: string, indent: string): string {
  return text
    .split('\n')
    .map((line) => indent + line)
    .join('\n');
}

function isBlank(state: EditorState, at: number): boolean {
  return state.doc.lineAt(at).text.trim() === '';
}

function onLineAfter(state: EditorState, at: number, indent: string, text: string): Insertion {
  const line = state.doc.lineAt(at);
  const isEnd = state.sliceDoc(at, line.to).trim() === '';
  return isEnd && line.to > at
    ? { at: line.to, text: `\n${indented(text, indent)}` }
    : { at, text: `\n${indented(text, indent)}${isEnd ? '' : `\n${indent}`}` };
}

/** Before a closing tag, one step deeper than it. */
function onLineBefore(state: EditorState, at: number, text: string): Insertion {
  const line = state.doc.lineAt(at);
  const indent = indentAt(state, at);
  const isFirst = state.sliceDoc(line.from, at).trim() === '';
  return isFirst
    ? { at: line.from, text: `${indented(text, `${indent}  `)}\n` }
    : { at, text: `\n${indented(text, `${indent}  `)}\n${indent}` };
}
