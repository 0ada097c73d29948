import { Box, Card, Group, SimpleGrid, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Template } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor } from '../components/links.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { MailFrame } from '../components/mail-frame.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { SearchField } from '../components/search-field.tsx';
import { Tag } from '../components/tag.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { formatDistance } from '../format/format-time.ts';
import { text } from '../texts/text.ts';
import { NewTemplateDialog } from './new-template-dialog.tsx';
import { PublishedBadge } from './published-badge.tsx';
import { showImages } from './template-images.ts';
import { TemplateMenu } from './template-menu.tsx';

/** The templates of the account, with thumbnails. */
export function TemplatesPage() {
  const { button: add, dialog } = useAddDialog(
    text('templates.add'),
    'templates:write',
    'new-template',
  );
  const [typed, setTyped] = useState('');
  const [contains] = useDebouncedValue(typed.trim(), 250);
  const pages = usePages('/accounts/{accountId}/templates', {
    query: { limit: 24, ...(contains !== '' && { contains }) },
  });
  return (
    <>
      <PageHeading title={text('nav.templates')} hint={text('templates.hint')}>
        {add}
      </PageHeading>
      {(typed !== '' || pages.items.length > 0 || pages.isPlaceholderData) && (
        <Box component="search" mb="md">
          <SearchField name={text('templates.find')} value={typed} change={setTyped} maw={360} />
        </Box>
      )}
      <ProblemAlert error={pages.error} retry={() => pages.refetch()} />
      {pages.isPending && <RowsSkeleton />}
      {pages.data !== undefined && pages.items.length === 0 && (
        <EmptyState
          icon="templates"
          title={text(contains === '' ? 'templates.none' : 'templates.noneFound')}
          hint={text(contains === '' ? 'templates.noneHint' : 'templates.noneFoundHint')}
        >
          {contains === '' && add}
        </EmptyState>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 4 }}>
        {pages.items.map((template) => (
          <TemplateCard key={template.id} template={template} />
        ))}
      </SimpleGrid>
      <LoadMore pages={pages} />
      <NewTemplateDialog {...dialog} />
    </>
  );
}

function TemplateCard({ template }: { template: Template }) {
  const { id, name, subject, publishedVersion, hasDraft, changedAt } = template;
  const sample = useSample(id);
  return (
    <Card withBorder padding="sm">
      <Card.Section>
        <TemplateThumbnail templateId={id} />
      </Card.Section>
      <Group justify="space-between" wrap="nowrap" mt="sm" align="flex-start">
        <PageAnchor
          to="/$account/templates/$template"
          params={{ template: id }}
          fw={600}
          className="breakable"
          dir="auto"
        >
          {name}
        </PageAnchor>
        <TemplateMenu template={template} />
      </Group>
      <Text size="sm" c="dimmed" truncate dir="auto">
        {sample?.subject ?? subject}
      </Text>
      <Group gap={6} mt="xs">
        <PublishedBadge version={publishedVersion} />
        {hasDraft && <Tag color="yellow">{text('templates.draft')}</Tag>}
      </Group>
      <Note mt={4}>
        {text('templates.changed', { when: formatDistance(changedAt) })} · {id}
      </Note>
    </Card>
  );
}

/** A template with its samples; undefined until it's rendered, or if it can't be. */
function useSample(templateId: string) {
  const accountId = useAccountId();
  const preview = useQuery({
    queryKey: ['thumbnail', accountId, templateId],
    queryFn: () =>
      api.post(
        '/accounts/{accountId}/templates/{templateId}/preview',
        { accountId, templateId },
        {},
      ),
    staleTime: 60_000,
    retry: false,
  });
  return preview.data?.rendered;
}

/** A thumbnail of a template with its samples; decorative, because the name is next to it. */
function TemplateThumbnail({ templateId }: { templateId: string }) {
  const html = useSample(templateId)?.html;
  return (
    <Box className="thumbnail" aria-hidden="true" inert>
      {typeof html === 'string' && (
        <MailFrame html={showImages(html)} title="" fit={560} minHeight={600} />
      )}
    </Box>
  );
}
