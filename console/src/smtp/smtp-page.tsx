import { Note } from '../components/note.tsx';
import './smtp.css';
import { Anchor, Button, Stack, Tabs, Text } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import type { SmtpSubmission } from '../api/management.generated.ts';
import { CodeSample } from '../components/code-sample.tsx';
import { CopyField } from '../components/copy-field.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Facts } from '../components/facts.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useMadeKey } from '../key/use-made-key.ts';
import { smtpTexts } from '../texts/en/smtp.en.ts';
import { addTexts, text } from '../texts/text.ts';
import { smtpSnippets } from './smtp-snippets.ts';

/** How programs submit messages over SMTP: credentials, and settings of well-known programs. */
export function SmtpPage() {
  const { data: settings, error, refetch } = useSettings();
  return (
    <>
      <PageHeading title={text('nav.smtp')} hint={text('smtp.hint')} />
      <ProblemAlert error={error} retry={() => refetch()} />
      {settings === undefined ? (
        error === null && <RowsSkeleton />
      ) : settings.smtpSubmission === null ? (
        <SubmissionOff />
      ) : (
        <SubmissionOn endpoint={settings.smtpSubmission} />
      )}
    </>
  );
}

/** What an operator sets. */
const offSettings = `SUBMISSION_PORT=587
SUBMISSION_TLS_PORT=465
SUBMISSION_TLS_CERT=/etc/letsencrypt/live/mail.example.com/fullchain.pem
SUBMISSION_TLS_KEY=/etc/letsencrypt/live/mail.example.com/privkey.pem
`;

function SubmissionOff() {
  return (
    <EmptyState icon="smtp" title={text('smtp.off')} hint={text('smtp.offHint')}>
      <div className="smtp-off">
        <CodeSample title={text('smtp.settings')} code={offSettings} />
      </div>
      <DocsLink />
    </EmptyState>
  );
}

function SubmissionOn({ endpoint }: { endpoint: SmtpSubmission }) {
  const made = useMadeKey(text('smtp.keyName'), ['messages:send-content']);
  return (
    <Stack>
      <Credentials endpoint={endpoint} made={made} />
      <Programs endpoint={endpoint} apiKey={made.key} />
    </Stack>
  );
}

interface CredentialsProps {
  endpoint: SmtpSubmission;
  made: ReturnType<typeof useMadeKey>;
}

function Credentials({ endpoint: { host, port, tlsPort }, made }: CredentialsProps) {
  const accountId = useAccountId();
  const copied = (label: string, value: string | number) =>
    [label, <CopyField key={label} value={String(value)} label={label} />] as const;
  return (
    <SectionCard id="smtp-settings" title={text('smtp.settings')}>
      <Facts
        facts={[
          copied(text('smtp.host'), host),
          ...(port === null ? [] : [copied(text('smtp.startTlsPort'), port)]),
          ...(tlsPort === null ? [] : [copied(text('smtp.tlsPort'), tlsPort)]),
          copied(text('smtp.user'), accountId),
          [text('smtp.password'), <Password key="password" made={made} />],
          [text('smtp.authentication'), 'PLAIN, LOGIN'],
        ]}
      />
      <ProblemAlert error={made.make.error} />
    </SectionCard>
  );
}

/** A key that is made here, or how to get one. */
function Password({ made: { key, make } }: Pick<CredentialsProps, 'made'>) {
  const may = useMay();
  if (key !== undefined)
    return (
      <>
        <CopyField value={key} label={text('smtp.password')} />
        <Note size="sm" mt={4}>
          {text('smtp.keyOnce')}
        </Note>
      </>
    );
  if (!may('keys:write')) return text('use.askForKey');
  return (
    <Stack gap={6} align="flex-start">
      <Text size="sm">{text('smtp.keyHint')}</Text>
      <Button size="xs" loading={make.isPending} onClick={() => make.mutate()}>
        {text('smtp.makeKey')}
      </Button>
    </Stack>
  );
}

interface ProgramsProps {
  endpoint: SmtpSubmission;
  apiKey: string | undefined;
}

function Programs({ endpoint: { host, port, tlsPort }, apiKey }: ProgramsProps) {
  const accountId = useAccountId();
  const snippets = smtpSnippets({
    host,
    port: port ?? tlsPort ?? 0,
    secure: port === null,
    accountId,
    key: apiKey,
  });
  return (
    <SectionCard id="smtp-programs" title={text('smtp.programs')} hint={text('smtp.sender')}>
      <Tabs defaultValue="postfix" keepMounted={false}>
        <Tabs.List>
          {snippets.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ id, parts }) => (
          <Tabs.Panel key={id} value={id} pt="sm">
            <Stack gap="sm">
              {parts.map(({ file, code }) => (
                <CodeSample
                  key={file ?? ''}
                  title={file === undefined ? text('smtp.run') : text('smtp.add', { file })}
                  code={code}
                />
              ))}
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
      <DocsLink />
    </SectionCard>
  );
}

function DocsLink() {
  return (
    <Text size="sm" mt="md">
      {text('smtp.docsHint')}{' '}
      <Anchor href="/docs#api-1/description/send-over-smtp" inherit underline="always">
        {text('smtp.docs')}
      </Anchor>
    </Text>
  );
}

addTexts({ en: smtpTexts });
