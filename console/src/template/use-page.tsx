import {
  Alert,
  Code,
  Group,
  NativeSelect,
  Stack,
  Switch,
  Tabs,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { useAccountId, useMe } from '../account/use-me.ts';
import type { TemplateContent, TemplateField } from '../api/management.generated.ts';
import { CodeSample } from '../components/code-sample.tsx';
import { PageAnchor } from '../components/links.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useMadeKey } from '../key/use-made-key.ts';
import { text } from '../texts/text.ts';
import { ArrivalCard } from './arrival-card.tsx';
import { KeyCard } from './key-card.tsx';
import { snippets } from './snippets.ts';
import { TemplateTabs } from './template-tabs.tsx';
import { UnverifiedSender } from './unverified-sender.tsx';
import { useTemplate, useTemplatePath, useVersion } from './use-template.ts';

/** Sends with the published version: a key, code that runs as it is, and what arrived. */
export function UsePage() {
  const { data: template, error } = useTemplate();
  const accountId = useAccountId();
  const version = useVersion(template?.publishedVersion);
  return (
    <TemplateTabs page="use">
      <ProblemAlert error={error ?? version.error} />
      {template?.publishedVersion === null && (
        <Alert color="yellow" title={text('use.unpublished')}>
          <PageAnchor
            to="/$account/templates/$template"
            params={{ account: accountId, template: template.id }}
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
      <Text size="sm" c="dimmed" mt="sm">
        {text('use.noFields')}
      </Text>
    );
  return (
    <Group gap="6px 12px" mt="sm">
      <Text size="sm" c="dimmed">
        {text('use.fields')}
      </Text>
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
