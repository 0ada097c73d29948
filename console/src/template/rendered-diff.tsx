import { Note } from '../components/note.tsx';
import './editor-texts.ts';
import { Code, NativeSelect, Paper, Skeleton, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import type { TemplateContent } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { MailFrame } from '../components/mail-frame.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { nameLocale } from '../format/name-locale.ts';
import type { ChangeKind } from '../frame/mark-changes.ts';
import { isWord, splitWords } from '../frame/split-words.ts';
import { unmatched } from '../frame/unmatched.ts';
import { text } from '../texts/text.ts';
import { showImages, useImageUrls } from './template-images.ts';
import { useTemplatePath } from './use-template.ts';

interface Side {
  readonly version: number;
  readonly content: TemplateContent;
}

/** Two versions rendered side by side with their samples, with differences marked. */
export function RenderedDiff({ older, newer }: { older: Side; newer: Side }) {
  const locales = [older, newer].flatMap(({ content }) => Object.keys(content.variants ?? {}));
  const [chosen, choose] = useState('');
  const locale = locales.includes(chosen) ? chosen : undefined;
  const before = useRenderedVersion(older, locale);
  const after = useRenderedVersion(newer, locale);
  const [left, right] = [before.data?.rendered, after.data?.rendered];
  if (before.isPending || after.isPending) return <DiffSkeleton />;
  return (
    <>
      <ProblemAlert error={before.error ?? after.error} />
      {locales.length > 0 && (
        <NativeSelect
          label={text('editor.language')}
          mb="sm"
          w="fit-content"
          value={locale ?? ''}
          onChange={(event) => choose(event.currentTarget.value)}
          data={[
            { value: '', label: text('editor.defaultLanguage', { locale: '' }) },
            ...[...new Set(locales)]
              .toSorted()
              .map((value) => ({ value, label: nameLocale(value) })),
          ]}
        />
      )}
      <div className="version-pair">
        <VersionPreview
          side={older}
          mail={left}
          other={{ side: newer, mail: right, kind: 'removed' }}
        />
        <VersionPreview
          side={newer}
          mail={right}
          other={{ side: older, mail: left, kind: 'added' }}
        />
      </div>
    </>
  );
}

/** A version with its samples, in a language of it. */
export function useRenderedVersion({ version, content }: Side, locale: string | undefined) {
  const path = useTemplatePath();
  return useQuery({
    queryKey: ['rendered-version', path, version, locale],
    queryFn: () =>
      api.post('/accounts/{accountId}/templates/{templateId}/preview', path, {
        content,
        ...(locale === undefined ? {} : { locale }),
      }),
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
  /** Another version; what it doesn't have is marked. */
  other?: {
    readonly side: Side;
    readonly mail: Mail | null | undefined;
    readonly kind: ChangeKind;
  };
}

interface ChangedWordsProps {
  against: string;
  kind: ChangeKind;
  children: string;
}

/** A text with the words marked that another text doesn't have. */
function ChangedWords({ against, kind, children }: ChangedWordsProps) {
  const parts = splitWords(children);
  const changed = unmatched(parts, splitWords(against));
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts can repeat, and have no state
    <Fragment key={index}>
      {changed[index] && isWord(part) ? <mark className={kind}>{part}</mark> : part}
    </Fragment>
  ));
}

/** Two versions that are loading. */
export function DiffSkeleton() {
  return (
    <div className="version-pair" aria-hidden="true">
      <Skeleton height={160} />
      <Skeleton height={160} />
    </div>
  );
}

/** A rendered version, on its own or compared with another one. */
export function VersionPreview({ side, mail, other }: VersionPreviewProps) {
  const name = text('versions.version', { version: side.version });
  const path = useTemplatePath();
  const images = useImageUrls(path, side.content.images);
  const otherImages = useImageUrls(path, other?.side.content.images);
  const subject = mail?.subject ?? '';
  return (
    <Paper
      {...(other !== undefined && { withBorder: true, className: 'version-side' })}
      component="section"
      aria-label={name}
    >
      {other !== undefined && <Note>{name}</Note>}
      <Text fw={600} mb="xs">
        {other === undefined ? (
          subject
        ) : (
          <ChangedWords against={other.mail?.subject ?? ''} kind={other.kind}>
            {subject}
          </ChangedWords>
        )}
      </Text>
      {typeof mail?.html === 'string' ? (
        <MailFrame
          html={showImages(mail.html, images)}
          title={name}
          minHeight={64}
          {...(other !== undefined && {
            marks: {
              against: showImages(other.mail?.html ?? '', otherImages),
              kind: other.kind,
            },
          })}
        />
      ) : (
        <Code block>{mail?.text ?? text('editor.noPreview')}</Code>
      )}
    </Paper>
  );
}
