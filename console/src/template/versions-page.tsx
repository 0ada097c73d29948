import { Note } from '../components/note.tsx';
import './editor-texts.ts';
import './editor-texts.ts';
import { Group, Modal, NativeSelect, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useMay } from '../account/use-me.ts';
import type {
  TemplateContent,
  TemplateVariant,
  TemplateVersion,
} from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { useGet } from '../api/use-get.ts';
import { lazyComponent } from '../components/lazy-component.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatDistance } from '../format/format-time.ts';
import { text } from '../texts/text.ts';
import {
  DiffSkeleton,
  RenderedDiff,
  useRenderedVersion,
  VersionPreview,
} from './rendered-diff.tsx';
import { TemplateTabs } from './template-tabs.tsx';
import { useTemplate, useTemplatePath, useVersion } from './use-template.ts';
import { VersionActions } from './version-actions.tsx';
import { readVersionFilters } from './version-filters.ts';

const route = getRouteApi('/$account/templates/$template/versions');

const VersionDiff = lazyComponent(() => import('./version-diff.tsx'), 'VersionDiff');

/** The published versions and their differences. */
export function VersionsPage() {
  const path = useTemplatePath();
  const { shown } = readVersionFilters(route.useSearch());
  const navigate = route.useNavigate();
  const pages = usePages('/accounts/{accountId}/templates/{templateId}/versions', { params: path });
  const { data: template } = useTemplate();
  const publishers = usePublishers(pages.items);
  const [chosen, choose] = useState<Pair>();
  return (
    <TemplateTabs page="versions">
      <ListBody
        label={text('editor.versions')}
        pages={pages}
        idOf={({ version }) => String(version)}
        empty={{ icon: 'templates', title: text('versions.none'), hint: text('versions.noneHint') }}
        columns={[
          {
            title: text('versions.column'),
            cell: ({ version, published }) => (
              <Group gap="xs" wrap="nowrap">
                <PageAnchor
                  to="/$account/templates/$template/versions"
                  params={{ account: path.accountId, template: path.templateId }}
                  search={{ shown: version }}
                >
                  {text('versions.version', { version })}
                </PageAnchor>
                {published && <Tag color="green">{text('versions.current')}</Tag>}
              </Group>
            ),
          },
          { title: text('editor.subject'), cell: ({ subject }) => subject },
          {
            title: text('versions.published'),
            cell: ({ version, createdAt }) => (
              <div>
                <TimeText value={createdAt} as="full" />
                <Note>
                  {formatDistance(createdAt)}
                  {publishers.has(version) &&
                    ` · ${text('versions.by', { person: publishers.get(version) ?? '' })}`}
                </Note>
              </div>
            ),
          },
          {
            title: text('actions'),
            actions: true,
            cell: (version) => (
              <VersionActions
                version={version}
                compare={() => {
                  choose({ older: version.version, newer: template?.publishedVersion ?? 0 });
                  document.getElementById(comparisonId)?.scrollIntoView();
                }}
                show={() => navigate({ search: { shown: version.version }, resetScroll: false })}
              />
            ),
          },
        ]}
      />
      {pages.items.length > 1 && (
        <Comparison
          versions={pages.items}
          pair={
            chosen ?? { older: pages.items[1]?.version ?? 0, newer: pages.items[0]?.version ?? 0 }
          }
          choose={choose}
        />
      )}
      <VersionDialog
        version={shown}
        close={() => navigate({ search: {}, replace: true, resetScroll: false })}
      />
    </TemplateTabs>
  );
}

/** Who published versions, as far as the audit log has it and the person may see it. */
function usePublishers(versions: readonly TemplateVersion[]): ReadonlyMap<number, string> {
  const { templateId } = useTemplatePath();
  const may = useMay();
  const from = versions.at(-1)?.createdAt;
  const { data } = useGet('/accounts/{accountId}/audit', {
    revision: versions.length,
    query: { kind: 'template_published', search: templateId, from, limit: 100 },
    enabled: from !== undefined && may('audit:read'),
  });
  const events = data?.items.filter(({ detail }) => detail.id === templateId) ?? [];
  return new Map(
    // Newest first, so that of several events of a version the one that made it is put last.
    events.flatMap(({ detail, name, email, keyName }) => {
      const person = name ?? email ?? keyName;
      return typeof detail.version === 'number' && person
        ? [[detail.version, person] as const]
        : [];
    }),
  );
}

/** The versions that are compared. */
interface Pair {
  readonly older: number;
  readonly newer: number;
}

const comparisonId = 'comparison';

interface ComparisonProps {
  versions: readonly TemplateVersion[];
  pair: Pair;
  choose: (pair: Pair) => void;
}

function Comparison({ versions, pair, choose }: ComparisonProps) {
  const { older, newer } = pair;
  const [mode, setMode] = useState<'rendered' | 'source'>('rendered');
  const [left, right] = [useVersion(older), useVersion(newer)];
  // The published one can be older than those that are loaded.
  const numbers = new Set([...versions.map(({ version }) => version), older, newer]);
  const choices = [...numbers]
    .sort((a, b) => b - a)
    .map((version) => ({ value: String(version), label: text('versions.version', { version }) }));
  return (
    <Stack id={comparisonId} mt="xl" role="region" aria-label={text('versions.compare')}>
      <Group align="flex-end" justify="space-between">
        <Group>
          <NativeSelect
            label={text('versions.from')}
            value={String(older)}
            onChange={(event) => choose({ older: Number(event.currentTarget.value), newer })}
            data={choices}
          />
          <NativeSelect
            label={text('versions.to')}
            value={String(newer)}
            onChange={(event) => choose({ older, newer: Number(event.currentTarget.value) })}
            data={choices}
          />
        </Group>
        <SegmentedControl
          aria-label={text('versions.compare')}
          value={mode}
          onChange={(value) => setMode(value === 'rendered' ? 'rendered' : 'source')}
          data={(['rendered', 'source'] as const).map((value) => ({
            value,
            label: text(`versions.${value}`),
          }))}
        />
      </Group>
      <ProblemAlert error={left.error ?? right.error} />
      {(left.isPending || right.isPending) && <DiffSkeleton />}
      {left.data !== undefined && right.data !== undefined && mode === 'rendered' && (
        <RenderedDiff
          older={{ version: older, content: left.data.content }}
          newer={{ version: newer, content: right.data.content }}
        />
      )}
      {left.data !== undefined && right.data !== undefined && mode === 'source' && (
        <Suspense fallback={<Skeleton height={160} />}>
          <VersionDiff
            before={describeContent(left.data.content)}
            after={describeContent(right.data.content)}
          />
        </Suspense>
      )}
    </Stack>
  );
}

/** A version as a single text, for line-by-line comparison. */
function describeContent(content: TemplateContent): string {
  const { fields = {}, sender, freshnessMinutes, locale, variants = {}, images = [] } = content;
  const settings = Object.entries(fields)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, field]) => `field ${name}: ${JSON.stringify(field)}`);
  return [
    ...describeParts(content).slice(0, 2),
    `sender: ${sender ?? ''}`,
    `freshness: ${freshnessMinutes ?? ''} min`,
    ...(locale === undefined ? [] : [`locale: ${locale}`]),
    ...images.map(
      ({ contentId, filename, size, sha256 }) =>
        `image ${contentId}: ${filename}, ${size} bytes, ${sha256.slice(0, 12)}`,
    ),
    ...settings,
    ...describeParts(content).slice(2),
    ...Object.entries(variants)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .flatMap(([name, variant]) => ['', `--- variant ${name}`, ...describeParts(variant)]),
  ].join('\n');
}

/** Subject and preview text, then the bodies. */
function describeParts({ subject, previewText, html, mjml, text }: TemplateVariant): string[] {
  return [
    `subject: ${subject}`,
    `preview text: ${previewText ?? ''}`,
    '',
    mjml ?? html ?? '',
    ...(text === undefined ? [] : ['', '--- plain text', text]),
  ];
}

interface VersionDialogProps {
  /** Undefined: closed. */
  version: number | undefined;
  close: () => void;
}

/** Shows a published version with its samples; it can't be changed anymore. */
function VersionDialog({ version, close }: VersionDialogProps) {
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
