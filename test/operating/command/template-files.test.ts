import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hashTemplate,
  templateFiles,
} from '../../../src/operating/command/template/template-folder.ts';

const code = {
  name: 'Receipt',
  subject: 'Hello',
  text: 'Hello',
  locale: 'en',
  variants: {
    'pt-BR': { subject: 'Oi', html: '<p>Oi</p>' },
    de: { subject: 'Hallo', text: 'Hallo', previewText: 'Na?' },
  },
};

test('each language has its subject in the settings and its parts in files of its own', () => {
  const files = templateFiles(code);
  assert.deepEqual(
    [...files.keys()],
    ['template.yaml', 'body.txt', 'body.de.txt', 'body.pt-BR.html'],
  );
  assert.equal(files.get('body.de.txt'), 'Hallo\n');
  assert.match(
    files.get('template.yaml') ?? '',
    /^variants:\n {2}de:\n {4}subject: Hallo\n {4}previewText: Na\?\n {2}pt-BR:\n {4}subject: Oi\n$/m,
  );
});

test('line endings, the last line and the order of names are no change', () => {
  const { de, 'pt-BR': portuguese } = code.variants;
  const same = { ...code, text: 'Hello\r\n\n', variants: { de, 'pt-BR': portuguese } };
  assert.equal(hashTemplate(same), hashTemplate(code));
  assert.notEqual(hashTemplate({ ...code, text: 'Hello!' }), hashTemplate(code));
  assert.notEqual(
    hashTemplate({ ...code, variants: { de, 'pt-BR': { ...portuguese, subject: 'Olá' } } }),
    hashTemplate(code),
  );
});
