import {
  Anchor,
  Box,
  Code,
  Group,
  Loader,
  NativeSelect,
  Paper,
  SegmentedControl,
  Switch,
  Text,
  Title,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Fragment, type ReactNode, useState } from 'react';
import type { TemplatePreview } from '../../api/management.generated.ts';
import { choicesOf } from '../../components/choices-of.ts';
import { MailFrame } from '../../components/mail-frame.tsx';
import { Note } from '../../components/note.tsx';
import { formatPercent, formatSize } from '../../format/format-number.ts';
import type { MailColors } from '../../frame/show-mail.ts';
import { text } from '../../texts/text.ts';
import { showImages } from '../template-images.ts';

type PreviewMode = 'desktop' | 'phone' | 'plain';

const previewModes: readonly PreviewMode[] = ['desktop', 'phone', 'plain'];

/** In pixels: wider than most mails, so those don't show the layout they have for phones. */
const desktopWidth = 700;

/** What mail apps in dark mode show. */
const darkColors = ['dark', 'invertLight', 'invertAll'] as const;

interface PreviewPaneProps {
  preview: TemplatePreview | undefined;
  busy: boolean;
  /** Data URLs by contentId. */
  images: ReadonlyMap<string, string>;
  /** Names of fields without a sample, highlighted instead of a value. */
  unfilled: readonly string[];
  /** Leads to the sample of a field. */
  fillIn: ((name: string) => void) | undefined;
  /** Called with text of the mail that was clicked. */
  onTextClick: (text: string) => void;
  /** Chooses the values. */
  children?: ReactNode;
}

/** Previews of the message in several formats. */
export function PreviewPane(props: PreviewPaneProps) {
  const { preview, busy, images, unfilled, fillIn, onTextClick, children } = props;
  const isPhone = useMediaQuery('(max-width: 40em)', undefined, { getInitialValueInEffect: false });
  const [chosen, setMode] = useState<PreviewMode>(isPhone ? 'phone' : 'desktop');
  // A phone has no space for a desktop.
  const mode = isPhone && chosen === 'desktop' ? 'phone' : chosen;
  const modes = previewModes.filter((one) => !(isPhone && one === 'desktop'));
  const [colors, setColors] = useState<MailColors>('light');
  const [scale, setScale] = useState(1);
  const rendered = preview?.rendered;
  const isPlain = mode === 'plain' || rendered?.html === null;
  return (
    <section aria-labelledby="preview" className="preview-pane">
      <Title order={2} id="preview" className="visually-hidden">
        {text('editor.preview')}
      </Title>
      <Group gap="8px 12px" mb="sm" align="flex-end" className="preview-choices">
        {children}
        <Switch
          size="sm"
          label={text('editor.darkMode')}
          checked={colors !== 'light'}
          disabled={isPlain}
          onChange={(event) => setColors(event.currentTarget.checked ? 'dark' : 'light')}
        />
        <SegmentedControl
          size="xs"
          aria-label={text('editor.preview')}
          value={mode}
          onChange={(value) => setMode(value as PreviewMode)}
          data={choicesOf(modes, (value) => text(`editor.${value}`))}
        />
      </Group>
      {colors !== 'light' && (
        <NativeSelect
          mb="sm"
          aria-label={text('editor.colors')}
          value={colors}
          disabled={isPlain}
          onChange={(event) => setColors(event.currentTarget.value as MailColors)}
          data={choicesOf(darkColors, (value) => text(`editor.colors.${value}`))}
        />
      )}
      <Unfilled names={unfilled} fillIn={fillIn} />
      {/* It scrolls, so the keyboard must reach it. */}
      <Paper
        withBorder
        className="preview-mail"
        role="group"
        aria-label={text('editor.previewedMail')}
        tabIndex={0}
      >
        {preview !== undefined && rendered === null && (
          <Text c="dimmed" p="sm">
            {text('editor.noPreview')}
          </Text>
        )}
        {rendered !== null && rendered !== undefined && (
          <>
            <div className="preview-head">
              <Text fw={600} dir="auto">
                <WithChips names={unfilled}>{rendered.subject}</WithChips>
              </Text>
              <Text size="sm" c="dimmed" truncate dir="auto">
                <WithChips names={unfilled}>{rendered.previewText}</WithChips>
              </Text>
            </div>
            {mode === 'plain' || rendered.html === null ? (
              <Code block className="plain-mail">
                {rendered.text ?? ''}
              </Code>
            ) : (
              <Box className="mail-place" data-mode={mode}>
                <MailFrame
                  html={showImages(rendered.html, images)}
                  title={text('editor.preview')}
                  colors={colors}
                  unfilled={unfilled}
                  onTextClick={onTextClick}
                  onScale={setScale}
                  {...(mode === 'phone' ? { width: 375 } : { fit: desktopWidth })}
                />
              </Box>
            )}
          </>
        )}
      </Paper>
      {rendered !== null && rendered !== undefined && (
        <Group gap="md" mt={6} wrap="nowrap" align="flex-start">
          {busy && (
            <Loader
              size={14}
              className="icon"
              role="status"
              aria-label={text('editor.previewing')}
            />
          )}
          {!isPlain && (
            <Text size="xs" c="dimmed" role="status">
              {text(colors === 'light' ? 'editor.clickHint' : `editor.colorsHint.${colors}`)}
            </Text>
          )}
          <Note ml="auto" className="nowrap">
            {!isPlain && scale < 1 && `${text('editor.scale', { scale: formatPercent(scale) })} · `}
            {text('editor.size', { size: formatSize(rendered.htmlBytes) })}
          </Note>
        </Group>
      )}
    </section>
  );
}

/** A text with the names of fields without a value highlighted in place of their braces. */
function WithChips({ names, children }: { names: readonly string[]; children: string }) {
  // Every second part is a name.
  return children.split(/\{\{([^{}]+)\}\}/).map((part, index) => {
    const isName = index % 2 === 1;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts can repeat, and have no state
      <Fragment key={index}>
        {isName && names.includes(part) ? (
          <mark className="unfilled">{part}</mark>
        ) : (
          (isName && `{{${part}}}`) || part
        )}
      </Fragment>
    );
  });
}

/** Says how many fields have no sample, and leads to the first one. */
function Unfilled({
  names,
  fillIn,
}: {
  names: readonly string[];
  fillIn: PreviewPaneProps['fillIn'];
}) {
  const [first] = names;
  if (first === undefined) return null;
  return (
    <Text size="sm" mb="sm" className="unfilled-count" role="status">
      {text('editor.unfilled', { count: names.length })}{' '}
      {fillIn !== undefined && (
        <Anchor component="button" type="button" inherit onClick={() => fillIn(first)}>
          {text('editor.fillIn')}
        </Anchor>
      )}
    </Text>
  );
}
