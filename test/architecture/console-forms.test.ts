import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';

const files = await Array.fromAsync(glob('console/src/**/*.{ts,tsx}'));
const texts = await Promise.all(
  files.map(async (file) => [file, await readFile(file, 'utf8')] as const),
);
const filesWith = (matches: (text: string) => boolean): string[] =>
  texts.filter(([, text]) => matches(text)).flatMap(([file]) => file);

const queryStateInKey =
  /key=\{(?:[^{}]|\$\{[^}]*\})*(?:\$\{[^}]*)?\b(?:isSuccess|isPending|isLoading|isFetching|isError|status|tag|data|undefined)\b/;
const hasForm = /<form\b|<DialogForm\b|<FormDialog\b/;
const savesSeen = /putUnchanged\(|ifUnchanged\([\s\S]{0,400}?api\.(?:put|post)/;

/** Files with a form and such a save, which is not of the form. */
const apart: Readonly<Record<string, string>> = {
  'console/src/team/team-page.tsx': 'a role is saved when it is chosen',
};

test('no form is keyed by the state of a query, whose reload would replace what is typed', () => {
  assert.match('<Form key={String(rule.isSuccess)} />', queryStateInKey);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template
  assert.match('<Form key={`${id} ${initial.tag}`} />', queryStateInKey);
  assert.deepEqual(
    filesWith((text) => queryStateInKey.test(text)),
    [],
  );
});

test('every form that edits a stored resource is made with useForm', () => {
  const editing = (text: string) => hasForm.test(text) && savesSeen.test(text);
  assert.ok(filesWith((text) => editing(text) && text.includes('useForm({')).length > 8);
  assert.deepEqual(
    filesWith((text) => editing(text) && !text.includes('useForm({')),
    Object.keys(apart),
  );
});
