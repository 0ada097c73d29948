import {
  Alert,
  Button,
  Code,
  Group,
  Loader,
  NativeSelect,
  Paper,
  Stack,
  Switch,
  Tabs,
  Text,
  TextInput,
  ThemeIcon,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import type { TemplateContent, TemplateField } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { keyOf } from '../api/use-get.ts';
import { CodeSample } from '../components/code-sample.tsx';
import { CopyField } from '../components/copy-field.tsx';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useMadeKey } from '../key/use-made-key.ts';
import { text } from '../texts/text.ts';
import { snippets } from './snippets.ts';
import { TemplateTabs } from './template-tabs.tsx';
import { UnverifiedSender } from './unverified-sender.tsx';
import { useTemplate, useTemplatePath, useVersion } from './use-template.ts';

/** Sends with the published version: a key, code that runs as it is, and what arrived. */
export function UsePage() {
  const { data: template, error } = useTemplate();
  const version = useVersion(template?.publishedVersion);
  return (
    <TemplateTabs page="use">
      <ProblemAlert error={error ?? version.error} />
      {template?.publishedVersion === null && (
        <Alert color="yellow" title={text('use.unpublished')}>
          <PageAnchor
            to="/$account/templates/$template"
            params={{ template: template.id }}
            underline="always"
          >
            {text('use.publish')}
          </PageAnchor>
        </Alert>
      )}
      {version.isLoading && <RowsSkeleton />}
      {version.data !== undefined && (
        <Stack>
          <UnverifiedSender sender={version.data.content.sender} />
          <SendSteps
            fields={version.data.fields}
            locale={version.data.locales[0]}
            content={version.data.content}
          />
        </Stack>
      )}
    </TemplateTabs>
  );
}

interface SendStepsProps {
  fields: readonly TemplateField[];
  locale: string | undefined;
  content: TemplateContent;
}

function SendSteps({ fields, locale, content }: SendStepsProps) {
  const accountId = useAccountId();
  const { templateId } = useTemplatePath();
  const { data: me } = useMe();
  const made = useMadeKey(text('use.keyName', { template: templateId }));
  const [typedTo, setTo] = useState<string>();
  const [typedAttached, setAttached] = useState<boolean>();
  const [language, setLanguage] = useState<string>('curl');
  const to = typedTo ?? me?.person?.email ?? '';
  const attached = typedAttached ?? announcesAttachment(content);
  const values = Object.fromEntries(fields.map(({ name, example }) => [name, example]));
  const examples = snippets(
    {
      url: location.origin,
      accountId,
      templateId,
      values,
      locale,
      to: to === '' ? undefined : to,
      attached,
    },
    made.key,
  );
  return (
    <Stack>
      <KeyCard made={made} />
      <SectionCard id="call" title={text('use.call')}>
        <Group align="flex-end" mb="sm">
          <TextInput
            label={text('use.to')}
            type="email"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
            flex="1 1 280px"
            maw={400}
          />
          <Switch
            label={text('use.attach')}
            checked={attached}
            onChange={(event) => setAttached(event.currentTarget.checked)}
            mb={8}
          />
        </Group>
        <NativeSelect
          className="language-select"
          label={text('use.language')}
          value={language}
          onChange={(event) => setLanguage(event.currentTarget.value)}
          data={examples.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <Tabs
          value={language}
          onChange={(value) => value !== null && setLanguage(value)}
          keepMounted={false}
        >
          <Tabs.List className="language-tabs">
            {examples.map(({ id, name }) => (
              <Tabs.Tab key={id} value={id}>
                {name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {examples.map(({ id, file, code, install, run }) => (
            <Tabs.Panel key={id} value={id} pt="sm">
              <Stack gap="sm">
                {install !== undefined && <CodeSample title={text('use.install')} code={install} />}
                <CodeSample
                  title={file === undefined ? text('use.command') : text('use.save', { file })}
                  code={code}
                />
                {run !== undefined && <CodeSample title={text('use.run')} code={run} />}
              </Stack>
            </Tabs.Panel>
          ))}
        </Tabs>
        <FieldNames fields={fields} />
      </SectionCard>
      <ArrivalCard isAwaited={made.key !== undefined} />
    </Stack>
  );
}

/** Whether the text says that something is attached. */
function announcesAttachment({ mjml = '', html = '', text: plain = '' }: TemplateContent): boolean {
  return /\battached\b/i.test(mjml + html + plain);
}

/** The fields of the code samples; only the required ones have to stay. */
function FieldNames({ fields }: { fields: readonly TemplateField[] }) {
  if (fields.length === 0)
    return (
      <Note size="sm" mt="sm">
        {text('use.noFields')}
      </Note>
    );
  return (
    <Group gap="6px 12px" mt="sm">
      <Note size="sm">{text('use.fields')}</Note>
      {fields.map(({ name, description, required }) => (
        <Text key={name} size="sm" title={description ?? undefined}>
          <Code>{name}</Code>{' '}
          <Text span inherit c="dimmed">
            {text(required ? 'use.required' : 'use.optional')}
          </Text>
        </Text>
      ))}
    </Group>
  );
}

/**
 * Shows whether the first message sent since the page was opened has arrived, and its outcome.
 * @param isAwaited whether there is a key to send it with
 */
function ArrivalCard({ isAwaited }: { isAwaited: boolean }) {
  const { templateId } = useTemplatePath();
  const may = useMay();
  const { data: settings } = useSettings();
  const { data: message } = useArrivedMessage();
  if (!may('messages:read')) return null;
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-labelledby="arrival"
      className="arrival"
      data-arrived={Boolean(message)}
    >
      <Title order={2} id="arrival" mb="xs">
        {text('use.arrival')}
      </Title>
      <div role="status">
        {message ? (
          <Group gap="sm" align="flex-start" wrap="nowrap">
            <ThemeIcon radius="xl" size={24} className="icon">
              <Icon name="check" size={14} />
            </ThemeIcon>
            <Stack gap={4}>
              <Group gap="xs">
                <Text fw={600}>{text('use.arrived', { to: message.to ?? '' })}</Text>
                <StateBadge state={message.state} />
                <Note size="sm">
                  <TimeText value={message.acceptedAt} as="distance" />
                </Note>
              </Group>
              {settings?.delivery === 'inbox' && message.state === 'delivered' && (
                <Text size="sm">{text('use.captured')}</Text>
              )}
              <Group gap="md" fz="sm">
                <PageAnchor
                  to="/$account/messages/$message"
                  params={{ message: message.id }}
                  underline="always"
                >
                  {text('use.showMessage')}
                </PageAnchor>
                {settings?.delivery === 'inbox' && may('domains:write') && (
                  <PageAnchor to="/$account/domains" underline="always">
                    {text('use.next')}
                  </PageAnchor>
                )}
              </Group>
            </Stack>
          </Group>
        ) : (
          <Group gap="sm" wrap="nowrap">
            {isAwaited && <Loader size="xs" className="icon" aria-hidden="true" />}
            <Text size="sm" c={isAwaited ? undefined : 'dimmed'}>
              {text(isAwaited ? 'use.waiting' : 'use.notYet', { template: templateId })}
            </Text>
          </Group>
        )}
      </div>
    </Paper>
  );
}

/** The latest message of each template when its page was opened first; null: none. It outlives the page, for Back. */
const firstSeen = new Map<string, string | null>();

/** The latest message of the template, or null if it was there before. */
function useArrivedMessage() {
  const { accountId, templateId } = useTemplatePath();
  const may = useMay();
  return useQuery({
    queryKey: [...keyOf('/accounts/{accountId}/messages', { accountId }), 'latest of', templateId],
    queryFn: async () => {
      const { items } = await api.get(
        '/accounts/{accountId}/messages',
        { accountId },
        { templateId, limit: 1 },
      );
      const latest = items[0] ?? null;
      const key = `${accountId} ${templateId}`;
      if (!firstSeen.has(key)) firstSeen.set(key, latest?.id ?? null);
      return latest?.id === firstSeen.get(key) ? null : latest;
    },
    enabled: may('messages:read'),
    refetchInterval: 2_000,
  });
}

/** Makes a key for the code samples. */
function KeyCard({ made: { key, make } }: { made: ReturnType<typeof useMadeKey> }) {
  const may = useMay();
  return (
    <SectionCard id="key" title={text('use.key')}>
      {key !== undefined ? (
        <Stack gap={4}>
          <CopyField value={key} label={text('keys.key')} />
          <Note size="sm">{text('use.keyOnce')}</Note>
        </Stack>
      ) : may('keys:write') ? (
        <Stack gap="xs" align="flex-start">
          <Text size="sm">{text('use.keyHint')}</Text>
          <Button loading={make.isPending} onClick={() => make.mutate()}>
            {text('use.makeKey')}
          </Button>
          <ProblemAlert error={make.error} />
        </Stack>
      ) : (
        <Text size="sm">{text('use.askForKey')}</Text>
      )}
    </SectionCard>
  );
}
