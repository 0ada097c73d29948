import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugOf } from '../../console/src/format/slug.ts';
import {
  contentIdFor,
  type EditedImage,
  imagesToSave,
  withHashes,
} from '../../console/src/template/edited-images.ts';

function image(contentId: string, filename: string): EditedImage {
  const content = `the content of ${filename}`;
  return { contentId, filename, contentType: 'image/png', size: 1, sha256: '', content };
}

test('images have different content IDs in every script, and a file of the same name keeps its own', () => {
  const images: EditedImage[] = [];
  for (const name of ['Shop logo.png', 'логотип.png', '产品.png', 'Grüße.png', 'gru-e.png'])
    images.push(image(contentIdFor(name, images), name));
  assert.deepEqual(
    images.map(({ contentId }) => contentId),
    ['shop-logo', 'image', 'image-2', 'gru-e', 'gru-e-2'],
  );
  assert.equal(contentIdFor('产品.png', images), 'image-2');
});

test('an ID from a name has no combining marks', () => {
  assert.equal(slugOf('Bestätigung – Été 2'), 'bestatigung-ete-2');
});

test('the content of an image is sent once, and again to overwrite someone else’s draft', () => {
  const added = [image('a', 'a.png'), image('b', 'b.png')];
  const { size: _, sha256: __, ...withContent } = added[0] ?? assert.fail();
  assert.deepEqual(imagesToSave(added, false)?.[0], withContent);
  const { content: ___, ...named } = withContent;
  const saved = withHashes(added, [
    { ...named, contentId: 'b', size: 1, sha256: 'hash of b' },
    { ...named, size: 1, sha256: 'hash of a' },
  ]);
  assert.deepEqual(imagesToSave(saved, false)?.[0], { ...named, sha256: 'hash of a' });
  assert.deepEqual(imagesToSave(saved, true)?.[0], withContent);
});
