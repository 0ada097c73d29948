import {
  Box,
  Code,
  Group,
  Loader,
  NativeSelect,
  Paper,
  SegmentedControl,
  Text,
  Title,
} from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { TemplatePreview } from '../../api/management.generated.ts';
import { MailFrame } from '../../components/mail-frame.tsx';
import { formatSize } from '../../format/format-number.ts';
import type { MailColors } from '../../frame/show-mail.ts';
import { text } from '../../texts/text.ts';
import { showImages } from '../template-images.ts';

type PreviewMode = 'desktop' | 'phone' | 'plain';

const previewModes: readonly PreviewMode[] = ['desktop', 'phone', 'plain'];

const mailColors: readonly MailColors[] = ['light', 'dark', 'invertLight', 'invertAll'];

interface PreviewPaneProps {
  preview: TemplatePreview | undefined;
  busy: boolean;
  /** Data URLs by contentId. */
  images: ReadonlyMap<string, string>;
  /** Called with text of the mail that was clicked. */
  onTextClick: (text: string) => void;
  /** Chooses the values. */
  children?: ReactNode;
}

/** Previews of the message in several formats. */
export function PreviewPane(props: PreviewPaneProps) {
  const { preview, busy, images, onTextClick, children } = props;
  const [mode, setMode] = useState<PreviewMode>(() =>
    matchMedia('(max-width: 40em)').matches ? 'phone' : 'desktop',
  );
  const [colors, setColors] = useState<MailColors>('light');
  const rendered = preview?.rendered;
  const isPlain = mode === 'plain' || rendered?.html === null;
  return (
    <section aria-labelledby="preview" className="preview-pane">
      <Group justify="space-between" mb="xs" className="preview-modes">
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
      <Group gap="xs" mb="xs" className="preview-choices">
        <NativeSelect
          size="xs"
          label={text('editor.colors')}
          value={colors}
          disabled={isPlain}
          onChange={(event) => setColors(event.currentTarget.value as MailColors)}
          data={mailColors.map((value) => ({ value, label: text(`editor.colors.${value}`) }))}
        />
        {children}
      </Group>
      {/* It scrolls, so the keyboard must reach it. */}
      <Paper
        withBorder
        p="sm"
        className="preview-mail"
        role="group"
        aria-label={text('editor.previewedMail')}
        tabIndex={0}
      >
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
                  colors={colors}
                  onTextClick={onTextClick}
                  {...(mode === 'phone' ? { width: 375 } : { fit: 640, minScale: 0.85 })}
                />
              </Box>
            )}
          </>
        )}
      </Paper>
      {rendered !== null && rendered !== undefined && (
        <Group gap="md" mt={6} wrap="nowrap" align="flex-start">
          {!isPlain && (
            <Text size="xs" c="dimmed" role="status">
              {text(colors === 'light' ? 'editor.clickHint' : `editor.colorsHint.${colors}`)}
            </Text>
          )}
          <Text size="xs" c="dimmed" ml="auto" className="nowrap">
            {text('editor.size', { size: formatSize(rendered.htmlBytes) })}
          </Text>
        </Group>
      )}
    </section>
  );
}
