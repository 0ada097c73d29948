import assert from 'node:assert/strict';
import { type LoadedTemplate, loadTemplate } from '../../src/content/rendering/load-template.ts';
import {
  type RenderedMail,
  type RenderInput,
  renderMessage,
} from '../../src/content/rendering/render-message.ts';
import { compileVersion } from '../../src/content/template/compile-version.ts';
import type { TemplateSource } from '../../src/content/template/template-source.ts';

/** Does what publishing does: compiles a template, stores it as JSON and loads it. */
export async function loadSource(source: TemplateSource): Promise<LoadedTemplate> {
  const { compiled, problems } = await compileVersion({ source });
  assert.ok(compiled !== null, JSON.stringify(problems));
  return loadTemplate(JSON.parse(JSON.stringify(compiled)));
}

/** Publishes and renders a template. */
export async function render(
  source: Partial<TemplateSource>,
  values: Record<string, string> = {},
  input: Partial<RenderInput> = {},
): Promise<RenderedMail> {
  return renderMessage(await loadSource({ subject: 'Subject', ...source }), { values, ...input });
}

/** The errors of a template that can't be published, each as `rule line:column message`. */
export async function templateProblemTexts(source: Partial<TemplateSource>): Promise<string[]> {
  const { compiled, problems } = await compileVersion({
    source: { subject: 'Subject', ...source },
  });
  assert.equal(compiled, null, 'the template was published');
  return problems.map(
    ({ rule, message, line, column }) => `${rule} ${line ?? '-'}:${column ?? '-'} ${message}`,
  );
}
