import { ActionIcon, Button, FileButton, Group, Menu, Text, Title } from '@mantine/core';
import { useRef } from 'react';
import type { HostedImage } from '../../api/management.generated.ts';
import { CopyField } from '../../components/copy-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Note } from '../../components/note.tsx';
import { useDialog } from '../../components/use-dialog.ts';
import { formatSize } from '../../format/format-number.ts';
import { text } from '../../texts/text.ts';
import type { EditedImage } from '../edited-images.ts';
import { hostedImageTypes, localImagePath } from './hosted-images.ts';
import { ImageLibrary } from './image-library.tsx';
import type { ImageActions } from './use-images.ts';

interface ImagesPanelProps {
  images: readonly EditedImage[];
  urls: ReadonlyMap<string, string>;
  actions: ImageActions;
  readOnly: boolean;
}

/** The images of the template: attached ones, which its content shows as `cid:…`, and those that this service hosts. */
export function ImagesPanel({ images, urls, actions, readOnly }: ImagesPanelProps) {
  const library = useDialog();
  return (
    <section aria-labelledby="images">
      <Group justify="space-between" mt="lg" mb="xs" gap="xs">
        <Title order={2} id="images">
          {text('editor.images')}
        </Title>
        {readOnly ? (
          <Button size="compact-sm" variant="default" onClick={library.open}>
            {text('editor.hostedImages')}
          </Button>
        ) : (
          <AddMenu actions={actions} showHosted={library.open} />
        )}
      </Group>
      {images.length + actions.shown.length === 0 && (
        <Note size="sm" mb="xs">
          {text('editor.noImages')}
        </Note>
      )}
      {actions.problem !== undefined && (
        <Text size="sm" c="red" role="alert" mb="xs">
          {actions.problem}
        </Text>
      )}
      {actions.shown.map((image) => (
        <HostedLine key={image.sha256} image={image} actions={actions} readOnly={readOnly} />
      ))}
      {images.map((image) => (
        <AttachedLine
          key={image.contentId}
          image={image}
          url={urls.get(image.contentId)}
          actions={actions}
          readOnly={readOnly}
        />
      ))}
      <ImageLibrary {...library.props} insert={readOnly ? undefined : actions.insert} />
    </section>
  );
}

/** The ways to add an image. */
function AddMenu({ actions, showHosted }: { actions: ImageActions; showHosted: () => void }) {
  const ways = [
    { name: text('editor.hostImage'), hint: text('editor.hostImageHint'), add: actions.host },
    { name: text('editor.attachImage'), hint: text('editor.attachImageHint'), add: actions.attach },
  ];
  const inputs = useRef<(HTMLInputElement | null)[]>([]);
  return (
    <>
      {/* The file inputs outlive the menu, which closes with the choice. */}
      {ways.map(({ name, add }, index) => (
        <FileButton
          key={name}
          ref={(input) => {
            inputs.current[index] = input;
          }}
          onChange={add}
          accept={hostedImageTypes.join(',')}
          multiple
          inputProps={{ 'aria-label': name }}
        >
          {() => null}
        </FileButton>
      ))}
      <Menu position="bottom-end" width={300}>
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            loading={actions.busy}
            leftSection={<Icon name="plus" size={14} />}
            rightSection={<Icon name="down" size={14} />}
          >
            {text('editor.addImage')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ways.map(({ name, hint }, index) => (
            <Menu.Item key={name} onClick={() => inputs.current[index]?.click()}>
              {name}
              <Note>{hint}</Note>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={showHosted}>{text('editor.hostedImages')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

interface HostedLineProps {
  image: HostedImage;
  actions: ImageActions;
  readOnly: boolean;
}

function HostedLine({ image, actions, readOnly }: HostedLineProps) {
  const { filename, size, url } = image;
  return (
    <Group className="line" wrap="nowrap" gap="sm">
      <span className="image-sample">
        <img src={localImagePath(url)} alt="" />
      </span>
      <div className="line-name">
        <CopyField value={filename} copied={url} label={url} />
        <Note className="breakable">
          {text('editor.hosted')} · {formatSize(size)}
        </Note>
      </div>
      {!readOnly && (
        <Button
          ml="auto"
          size="compact-sm"
          variant="subtle"
          onClick={() => actions.attachInstead(image)}
        >
          {text('editor.attachInstead')}
        </Button>
      )}
    </Group>
  );
}

interface AttachedLineProps {
  image: EditedImage;
  url: string | undefined;
  actions: ImageActions;
  readOnly: boolean;
}

function AttachedLine({ image, url, actions, readOnly }: AttachedLineProps) {
  const { contentId, filename, size } = image;
  return (
    <Group className="line" wrap="nowrap" gap="sm">
      <span className="image-sample">{url !== undefined && <img src={url} alt="" />}</span>
      <div className="line-name">
        <CopyField value={`cid:${contentId}`} label={`cid:${contentId}`} />
        <Note className="breakable">
          {text('editor.attached')} · {filename} · {formatSize(size)}
        </Note>
      </div>
      {!readOnly && (
        <Group ml="auto" gap={4} wrap="nowrap">
          {url !== undefined && (
            <Button
              size="compact-sm"
              variant="subtle"
              onClick={() => actions.hostInstead(image, url)}
            >
              {text('editor.hostInstead')}
            </Button>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={text('editor.removeImage', { name: contentId })}
            onClick={() => actions.remove(image)}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </Group>
      )}
    </Group>
  );
}
