import { Box, Code, Group, Loader, Paper, SegmentedControl, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { TemplatePreview } from '../../api/management.generated.ts';
import { MailFrame } from '../../components/mail-frame.tsx';
import { formatSize } from '../../format/format-number.ts';
import { text } from '../../texts/text.ts';
import { showImages } from '../template-images.ts';

type PreviewMode = 'desktop' | 'phone' | 'darkMode' | 'plain';

const previewModes: readonly PreviewMode[] = ['desktop', 'phone', 'darkMode', 'plain'];

interface PreviewPaneProps {
  preview: TemplatePreview | undefined;
  busy: boolean;
  /** Data URLs by contentId. */
  images: ReadonlyMap<string, string>;
}

/** Previews of the message in several formats. */
export function PreviewPane({ preview, busy, images }: PreviewPaneProps) {
  const [mode, setMode] = useState<PreviewMode>('desktop');
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
          value={mode}
          onChange={(value) => setMode(value as PreviewMode)}
          data={previewModes.map((value) => ({ value, label: text(`editor.${value}`) }))}
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
            {mode === 'plain' || rendered.html === null ? (
              <Code block className="plain-mail">
                {rendered.text ?? ''}
              </Code>
            ) : (
              <Box className="mail-place">
                <MailFrame
                  html={showImages(rendered.html, images)}
                  title={text('editor.preview')}
                  dark={mode === 'darkMode'}
                  {...(mode === 'phone' && { width: 375 })}
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
