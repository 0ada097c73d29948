import './editor-texts.ts';
import { Modal } from '@mantine/core';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { text } from '../texts/text.ts';
import { useRenderedVersion, VersionPreview } from './rendered-diff.tsx';
import { useVersion } from './use-template.ts';

interface VersionDialogProps {
  /** Undefined: closed. */
  version: number | undefined;
  close: () => void;
}

/** Shows a published version with its samples; it can't be changed anymore. */
export function VersionDialog({ version, close }: VersionDialogProps) {
  return (
    <Modal
      opened={version !== undefined}
      onClose={close}
      title={version !== undefined && text('versions.version', { version })}
      size="xl"
    >
      {version !== undefined && <ShownVersion version={version} />}
    </Modal>
  );
}

function ShownVersion({ version }: { version: number }) {
  const { data, error } = useVersion(version);
  if (data === undefined) return error === null ? <RowsSkeleton /> : <ProblemAlert error={error} />;
  return <RenderedVersion version={version} content={data.content} />;
}

function RenderedVersion(side: Parameters<typeof useRenderedVersion>[0]) {
  const { data, error, isPending } = useRenderedVersion(side, undefined);
  if (isPending) return <RowsSkeleton />;
  return (
    <>
      <ProblemAlert error={error} />
      {data !== undefined && <VersionPreview side={side} mail={data.rendered} />}
    </>
  );
}
