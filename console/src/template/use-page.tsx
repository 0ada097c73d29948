import { Alert, Code, Group, List, Paper, Stack, Tabs, Text, Title } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import type { TemplateField } from '../api/management.generated.ts';
import { CopyButton } from '../components/copy-field.tsx';
import { PageAnchor } from '../components/links.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { text } from '../texts/text.ts';
import { EnvironmentSnippet } from './environment-snippet.tsx';
import { snippets } from './snippets.ts';
import { TemplateTabs } from './template-tabs.tsx';
import { UnverifiedSender } from './unverified-sender.tsx';
import { useTemplate, useTemplatePath, useVersion } from './use-template.ts';

/** Ready-to-run code samples with this account's IDs and the published version's fields. */
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
          <Snippets fields={version.data.fields} locale={version.data.locales[0]} />
        </Stack>
      )}
    </TemplateTabs>
  );
}

interface SnippetsProps {
  fields: readonly TemplateField[];
  locale: string | undefined;
}

function Snippets({ fields, locale }: SnippetsProps) {
  const accountId = useAccountId();
  const { templateId } = useTemplatePath();
  const required = fields.filter((field) => field.required);
  const values = Object.fromEntries(required.map(({ name, example }) => [name, example]));
  const examples = snippets({ url: location.origin, accountId, templateId, values, locale });
  return (
    <Stack>
      <Paper withBorder p="md" component="section" aria-labelledby="needs">
        <Title order={2} id="needs" mb={4}>
          {text('use.requiredFields')}
        </Title>
        {required.length === 0 ? (
          <Text size="sm">{text('use.noRequiredFields')}</Text>
        ) : (
          <List size="sm">
            {required.map(({ name, description }) => (
              <List.Item key={name}>
                <Code>{name}</Code> {description}
              </List.Item>
            ))}
          </List>
        )}
      </Paper>
      <EnvironmentSnippet />
      <Paper withBorder p="md" component="section" aria-labelledby="call">
        <Title order={2} id="call" mb="xs">
          {text('use.call')}
        </Title>
        <Tabs defaultValue="curl" keepMounted={false}>
          <Tabs.List>
            {examples.map(({ id, name }) => (
              <Tabs.Tab key={id} value={id}>
                {name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {examples.map(({ id, code }) => (
            <Tabs.Panel key={id} value={id} pt="sm">
              <Group justify="flex-end" mb="xs">
                <CopyButton value={code} />
              </Group>
              <Code block className="snippet">
                {code}
              </Code>
            </Tabs.Panel>
          ))}
        </Tabs>
      </Paper>
    </Stack>
  );
}
