import './editor-texts.ts';
import { Badge, Group, NativeSelect, SegmentedControl, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import type { TemplateVersion } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { lazyComponent } from '../components/lazy-component.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { describeContent } from './describe-content.ts';
import { RenderedDiff } from './rendered-diff.tsx';
import { TemplateTabs } from './template-tabs.tsx';
import { useTemplatePath, useVersion } from './use-template.ts';
import { VersionActions } from './version-actions.tsx';
import { VersionDialog } from './version-dialog.tsx';
import { readVersionFilters } from './version-filters.ts';

const route = getRouteApi('/$account/templates/$template/versions');

const VersionDiff = lazyComponent(() => import('./version-diff.tsx'), 'VersionDiff');

/** The published versions and their differences. */
export function VersionsPage() {
  const path = useTemplatePath();
  const { shown } = readVersionFilters(route.useSearch());
  const navigate = route.useNavigate();
  const pages = usePages<TemplateVersion>({
    queryKey: ['versions', path.accountId, path.templateId],
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/templates/{templateId}/versions', {
          params: { path, query: { cursor } },
        }),
      ),
  });
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
                {published && (
                  <Badge className="state-badge" data-color="green" tt="none">
                    {text('versions.current')}
                  </Badge>
                )}
              </Group>
            ),
          },
          { title: text('editor.subject'), cell: ({ subject }) => subject },
          {
            title: text('versions.published'),
            cell: ({ createdAt }) => <TimeText value={createdAt} full />,
          },
          {
            title: text('actions'),
            actions: true,
            cell: (version) => <VersionActions version={version} />,
          },
        ]}
      />
      {pages.items.length > 1 && (
        <Comparison versions={pages.items.map(({ version }) => version)} />
      )}
      <VersionDialog
        version={shown}
        close={() => navigate({ search: {}, replace: true, resetScroll: false })}
      />
    </TemplateTabs>
  );
}

function Comparison({ versions }: { versions: readonly number[] }) {
  const [newer, setNewer] = useState(versions[0] ?? 0);
  const [older, setOlder] = useState(versions[1] ?? 0);
  const [mode, setMode] = useState<'rendered' | 'source'>('rendered');
  const [left, right] = [useVersion(older), useVersion(newer)];
  const choices = versions.map((version) => ({
    value: String(version),
    label: text('versions.version', { version }),
  }));
  return (
    <Stack mt="xl" role="region" aria-label={text('versions.compare')}>
      <Group align="flex-end" justify="space-between">
        <Group>
          <NativeSelect
            label={text('versions.from')}
            value={String(older)}
            onChange={(event) => setOlder(Number(event.currentTarget.value))}
            data={choices}
          />
          <NativeSelect
            label={text('versions.to')}
            value={String(newer)}
            onChange={(event) => setNewer(Number(event.currentTarget.value))}
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
      {left.data !== undefined && right.data !== undefined && mode === 'rendered' && (
        <RenderedDiff
          older={{ version: older, content: left.data.content }}
          newer={{ version: newer, content: right.data.content }}
        />
      )}
      {left.data !== undefined && right.data !== undefined && mode === 'source' && (
        <Suspense fallback={<RowsSkeleton />}>
          <VersionDiff
            before={describeContent(left.data.content)}
            after={describeContent(right.data.content)}
          />
        </Suspense>
      )}
    </Stack>
  );
}
