import { ActionIcon, Button, FileButton, Group, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { CopyField } from '../../components/copy-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { formatSize } from '../../format/format-number.ts';
import { text } from '../../texts/text.ts';
import { type EditedImage, toBase64 } from '../template-images.ts';

const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const maxImages = 20;
const maxBytes = 2 * 1_024 * 1_024;

interface ImagesPanelProps {
  images: readonly EditedImage[];
  urls: ReadonlyMap<string, string>;
  readOnly: boolean;
  /** Gets what changes the images, since reading a file takes a while. */
  onChange: (change: (images: readonly EditedImage[]) => EditedImage[]) => void;
}

/** The images of the template, which its content shows as `cid:…`. */
export function ImagesPanel({ images, urls, readOnly, onChange }: ImagesPanelProps) {
  const [problem, setProblem] = useState<string>();

  async function add(files: File[]) {
    const added = await Promise.all(files.map(readImage));
    const next = withImages(images, added);
    const size = next.reduce((sum, image) => sum + image.size, 0);
    if (next.length > maxImages) setProblem(text('editor.tooManyImages'));
    else if (size > maxBytes) setProblem(text('editor.imagesTooLarge'));
    else {
      setProblem(undefined);
      onChange((current) => withImages(current, added));
    }
  }

  return (
    <section aria-labelledby="images">
      <Group justify="space-between" mt="lg" mb="xs">
        <Title order={2} id="images">
          {text('editor.images')}
        </Title>
        {!readOnly && (
          <FileButton onChange={add} accept={imageTypes.join(',')} multiple>
            {(props) => (
              <Button
                {...props}
                size="compact-sm"
                variant="default"
                leftSection={<Icon name="plus" size={14} />}
              >
                {text('editor.addImage')}
              </Button>
            )}
          </FileButton>
        )}
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        {text('editor.imagesHint')}
      </Text>
      {problem !== undefined && (
        <Text size="sm" c="red" role="alert" mb="xs">
          {problem}
        </Text>
      )}
      {images.map((image) => (
        <Group key={image.contentId} className="line" wrap="nowrap" gap="sm">
          <span className="image-sample">
            {urls.has(image.contentId) && <img src={urls.get(image.contentId)} alt="" />}
          </span>
          <div className="line-name">
            <CopyField value={`cid:${image.contentId}`} label={`cid:${image.contentId}`} />
            <Text size="xs" c="dimmed" className="breakable">
              {image.filename} · {formatSize(image.size)}
            </Text>
          </div>
          {!readOnly && (
            <ActionIcon
              ml="auto"
              variant="subtle"
              color="gray"
              aria-label={text('editor.removeImage', { name: image.contentId })}
              onClick={() => onChange((current) => current.filter((other) => other !== image))}
            >
              <Icon name="trash" size={16} />
            </ActionIcon>
          )}
        </Group>
      ))}
    </section>
  );
}

/** An image with the contentId of an earlier one replaces it. */
function withImages(images: readonly EditedImage[], added: readonly EditedImage[]): EditedImage[] {
  const byId = new Map([...images, ...added].map((image) => [image.contentId, image]));
  return [...byId.values()];
}

/** The file's name becomes the contentId: `Shop logo.png` is `shop-logo`. */
async function readImage(file: File): Promise<EditedImage> {
  const name = file.name.replace(/\.[^.]*$/, '').toLowerCase();
  const contentId = name
    .replace(/[^\w.-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100);
  return {
    contentId: contentId || 'image',
    filename: file.name,
    contentType: file.type,
    size: file.size,
    sha256: '',
    content: await toBase64(file),
  };
}
