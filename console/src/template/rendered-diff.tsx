import { Code, Paper, SimpleGrid, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { TemplateContent } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { MailFrame } from '../components/mail-frame.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows.tsx';
import { text } from '../texts/text.ts';
import { showImages, useImageUrls } from './template-images.ts';
import { useTemplatePath } from './use-template.ts';

interface Side {
  readonly version: number;
  readonly content: TemplateContent;
}

/** Two versions rendered side by side with their samples, with differences outlined. */
export function RenderedDiff({ older, newer }: { older: Side; newer: Side }) {
  const before = useRendered(older);
  const after = useRendered(newer);
  const [left, right] = [before.data?.rendered, after.data?.rendered];
  if (before.isPending || after.isPending) return <RowsSkeleton />;
  return (
    <>
      <ProblemAlert error={before.error ?? after.error} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <VersionPreview side={older} mail={left} against={newer} other={right} color="#d6453d" />
        <VersionPreview side={newer} mail={right} against={older} other={left} color="#2b8a6b" />
      </SimpleGrid>
    </>
  );
}

function useRendered({ version, content }: Side) {
  const path = useTemplatePath();
  return useQuery({
    queryKey: ['rendered-version', path, version],
    queryFn: () =>
      answerOf(
        api.POST('/accounts/{accountId}/templates/{templateId}/preview', {
          params: { path },
          body: { content },
        }),
      ),
    placeholderData: keepPreviousData,
    staleTime: 300_000,
  });
}

interface Mail {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

interface VersionPreviewProps {
  side: Side;
  mail: Mail | null | undefined;
  against: Side;
  other: Mail | null | undefined;
  color: string;
}

function VersionPreview({ side, mail, against, other, color }: VersionPreviewProps) {
  const name = text('versions.version', { version: side.version });
  const path = useTemplatePath();
  const images = useImageUrls(path, side.content.images);
  const otherImages = useImageUrls(path, against.content.images);
  const subject = mail?.subject ?? '';
  const same = subject === other?.subject;
  return (
    <Paper withBorder p="sm" component="section" aria-label={name}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text fw={600} mb="xs">
        {same ? subject : <mark className="changed">{subject}</mark>}
      </Text>
      {typeof mail?.html === 'string' ? (
        <MailFrame
          html={showImages(mail.html, images)}
          title={name}
          marks={{ against: showImages(other?.html ?? '', otherImages), color }}
        />
      ) : (
        <Code block>{mail?.text ?? text('editor.noPreview')}</Code>
      )}
    </Paper>
  );
}
