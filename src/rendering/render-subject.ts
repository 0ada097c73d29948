import type { CompiledNode } from '../template/compiled-template.ts';
import type { GivenValues } from '../template/field-value.ts';
import { formattingLocale } from '../template/locale.ts';
import { type OverriddenTemplate, parseOverride } from '../template/parse-override.ts';
import { openScope } from '../template/value-scope.ts';
import type { LoadedTemplate } from './load-template.ts';
import { renderLine } from './render-line.ts';

/** What the subject of a message depends on. */
export interface SubjectInput {
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
