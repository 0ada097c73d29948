import type { CompiledNode } from '../template/compiled-template.ts';
import { formatValue } from '../template/field-format.ts';
import type { GivenValues } from '../template/field-value.ts';
import { formattingLocale } from '../template/locale.ts';
import { type OverriddenTemplate, parseOverride } from '../template/parse-override.ts';
import { MAX_FILLED_LINE } from '../template/template-limits.ts';
import { openScope, type ValueScope } from '../template/value-scope.ts';
import type { LoadedTemplate } from './load-template.ts';

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

/** What the subject of a message depends on. */
interface SubjectInput {
  readonly values: GivenValues;
  readonly locale?: string | undefined;
  readonly subjectLine?: string | undefined;
}

/** The subject of a message alone, without the cost of its bodies; unlike in the mail, it can be of any length. */
export function renderSubject(template: LoadedTemplate, input: SubjectInput): string {
  const { compiled, index } = template;
  return renderLine(
    lineNodes(compiled.subject, input.subjectLine, template),
    openScope(index, input.values),
    formattingLocale(compiled.locale, input.locale),
  );
}

/** The nodes of a subject line or preview text: those of the request, if it has one. */
export function lineNodes(
  own: readonly CompiledNode[],
  override: string | undefined,
  { compiled }: { readonly compiled: OverriddenTemplate },
): readonly CompiledNode[] {
  if (override === undefined) return own;
  const parsed = parseOverride(override, compiled);
  if (!parsed.ok) throw new Error(`a subject line or preview text ${parsed.reason}`);
  return parsed.override.nodes;
}

/** The text of nodes that is the same in every message. */
export function fixedTexts(nodes: readonly CompiledNode[]): string[] {
  return nodes.flatMap((node) => {
    if (typeof node === 'string') return [node];
    return 'nodes' in node ? fixedTexts(node.nodes) : [];
  });
}
