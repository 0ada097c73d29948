import { Box, Code, Group, Loader, Paper, SegmentedControl, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { TemplatePreview } from '../../api/management.generated.ts';
import { formatSize } from '../../format/format-number.ts';
import { MailFrame } from '../../parts/mail-frame.tsx';
import { text } from '../../texts/text.ts';

type Manner = 'desktop' | 'phone' | 'darkMode' | 'plain';

const manners: readonly Manner[] = ['desktop', 'phone', 'darkMode', 'plain'];

interface PreviewPaneProps {
  preview: TemplatePreview | undefined;
  busy: boolean;
}

/** How the message will look, in several places. */
export function PreviewPane({ preview, busy }: PreviewPaneProps) {
  const [manner, setManner] = useState<Manner>('desktop');
  const rendered = preview?.rendered;
  return (
    <section aria-labelledby="preview">
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Title order={2} id="preview">
            {text('editor.preview')}
          </Title>
          {busy && <Loader size={14} role="status" aria-label={text('editor.previewing')} />}
        </Group>
        <SegmentedControl
          size="xs"
          aria-label={text('editor.preview')}
          value={manner}
          onChange={(value) => setManner(value as Manner)}
          data={manners.map((value) => ({ value, label: text(`editor.${value}`) }))}
        />
      </Group>
      <Paper withBorder p="sm">
        {preview !== undefined && rendered === null && (
          <Text c="dimmed">{text('editor.noPreview')}</Text>
        )}
        {rendered !== null && rendered !== undefined && (
          <>
            <Text fw={600} dir="auto">
              {rendered.subject}
            </Text>
            <Text size="sm" c="dimmed" mb="xs" truncate dir="auto">
              {rendered.previewText}
            </Text>
            {manner === 'plain' || rendered.html === null ? (
              <Code block className="plain-mail">
                {rendered.text ?? ''}
              </Code>
            ) : (
              <Box className="mail-place">
                <MailFrame
                  html={rendered.html}
                  title={text('editor.preview')}
                  dark={manner === 'darkMode'}
                  {...(manner === 'phone' && { width: 375 })}
                />
              </Box>
            )}
            <Text size="xs" c="dimmed" mt="xs">
              {text('editor.size', { size: formatSize(rendered.htmlBytes) })}
            </Text>
          </>
        )}
      </Paper>
    </section>
  );
}
