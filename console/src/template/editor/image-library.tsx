import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useAccountId, useMay } from '../../account/use-me.ts';
import { useSettings } from '../../account/use-settings.ts';
import type { HostedImage } from '../../api/management.generated.ts';
import { api } from '../../api/management.ts';
import { usePages } from '../../api/pages.ts';
import { useRefresh } from '../../api/use-refresh.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CopyButton } from '../../components/copy-field.tsx';
import { LoadMore } from '../../components/load-more.tsx';
import { Note } from '../../components/note.tsx';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { RowsSkeleton } from '../../components/rows-skeleton.tsx';
import { useDialog } from '../../components/use-dialog.ts';
import { formatSize } from '../../format/format-number.ts';
import { text } from '../../texts/text.ts';
import { localImagePath } from './hosted-images.ts';

const loopback = /^https?:\/\/(localhost|127\.|\[::1\])/;

interface ImageLibraryProps {
  opened: boolean;
  close: () => void;
  /** Undefined for people who can't change the template. */
  insert: ((image: HostedImage) => void) | undefined;
}

/** The images that the account hosts. */
export function ImageLibrary({ opened, close, insert }: ImageLibraryProps) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text('editor.hostedImages')}
      size="lg"
      returnFocus={false}
    >
      <HostedImageList close={close} insert={insert} />
    </Modal>
  );
}

function HostedImageList({ close, insert }: Omit<ImageLibraryProps, 'opened'>) {
  const { data: settings } = useSettings();
  const pages = usePages('/accounts/{accountId}/images', { query: { limit: 20 } });
  return (
    <Stack gap="xs">
      <ProblemAlert error={pages.error} retry={() => pages.refetch()} />
      {settings !== undefined && loopback.test(settings.publicUrl) && (
        <Alert color="orange">{text('editor.imagesLocal')}</Alert>
      )}
      {pages.isPending && <RowsSkeleton />}
      {pages.data !== undefined && pages.items.length === 0 && (
        <Text c="dimmed">{text('editor.noHostedImages')}</Text>
      )}
      <div>
        {pages.items.map((image) => (
          <HostedImageLine
            key={image.sha256}
            image={image}
            insert={
              insert &&
              (() => {
                close();
                insert(image);
              })
            }
          />
        ))}
      </div>
      <LoadMore pages={pages} />
    </Stack>
  );
}

function HostedImageLine({
  image,
  insert,
}: {
  image: HostedImage;
  insert: (() => void) | undefined;
}) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('images');
  const removal = useDialog();
  const { sha256, filename, size, url } = image;
  return (
    <Group className="line" gap="sm" justify="space-between">
      <Group gap="sm" wrap="nowrap" className="line-name">
        <span className="image-sample">
          <img src={localImagePath(url)} alt="" loading="lazy" />
        </span>
        <div className="line-name">
          <Text size="sm" className="breakable">
            {filename}
          </Text>
          <Note>{formatSize(size)}</Note>
        </div>
      </Group>
      <Group gap={6}>
        {insert !== undefined && (
          <Button size="compact-sm" variant="default" onClick={insert}>
            {text('editor.insert')}
          </Button>
        )}
        <CopyButton value={url}>{text('editor.copyAddress')}</CopyButton>
        {may('templates:publish') && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="red"
            aria-label={text('editor.removeImage', { name: filename })}
            onClick={removal.open}
          >
            {text('remove')}
          </Button>
        )}
      </Group>
      <Confirm
        {...removal.props}
        title={text('editor.removeImage', { name: filename })}
        consequence={text('editor.removeHostedHint')}
        action={text('remove')}
        confirm={async () => {
          await api.delete('/accounts/{accountId}/images/{sha256}', { accountId, sha256 });
          await refresh();
        }}
      />
    </Group>
  );
}
