import { Anchor, Button, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay } from '../account/use-me.ts';
import type { SendReadiness } from '../api/management.generated.ts';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { FirstSender } from '../sender/first-sender.tsx';
import { FirstTemplate } from '../template/first-template.tsx';
import { text } from '../texts/text.ts';
import { useTemplates } from './use-overview.ts';

type Step = 'sender' | 'template' | 'key' | 'message';

const order: readonly Step[] = ['sender', 'template', 'key', 'message'];

/** The way to the first message: what is done, and the next step with what it takes. */
export function FirstSteps({ readiness }: { readiness: SendReadiness }) {
  const next = order.find((step) => !readiness[step]);
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="steps">
      <Group justify="space-between" mb="md">
        <Title order={2} id="steps">
          {text('steps.title')}
        </Title>
        <Note size="sm">
          {text('steps.done', {
            done: order.filter((step) => readiness[step]).length,
            all: order.length,
          })}
        </Note>
      </Group>
      <Stack gap="lg" component="ol" className="steps">
        {order.map((step, index) => (
          <Group key={step} component="li" gap="sm" wrap="nowrap" align="flex-start">
            <ThemeIcon
              variant={readiness[step] ? 'filled' : 'default'}
              radius="xl"
              size={26}
              className="icon"
            >
              {readiness[step] ? (
                <Icon name="check" size={14} />
              ) : (
                <Text size="xs" span>
                  {index + 1}
                </Text>
              )}
            </ThemeIcon>
            <Stack gap={6} flex={1} miw={0}>
              <Text fw={step === next ? 650 : undefined}>
                {text(`steps.${step}`)}
                {readiness[step] && <Note span> {text('overview.done')}</Note>}
              </Text>
              {!readiness[step] && <Note size="sm">{text(`steps.${step}Hint`)}</Note>}
              {step === next && <StepAction step={step} />}
            </Stack>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}

function StepAction({ step }: { step: Step }): ReactNode {
  if (step === 'sender') return <FirstSender />;
  if (step === 'template') return <FirstTemplate />;
  return <UseTemplate step={step} />;
}

/** Keys are made, and messages sent, on the page of a template. */
function UseTemplate({ step }: { step: 'key' | 'message' }) {
  const may = useMay();
  const { data: templates } = useTemplates();
  const template = templates?.items.find(({ publishedVersion }) => publishedVersion !== null);
  if (step === 'key' && !may('integrations:write'))
    return <Text size="sm">{text('use.askForKey')}</Text>;
  if (template === undefined) return null;
  return (
    <div>
      <PageAnchor
        to="/$account/templates/$template/use"
        params={{ template: template.id }}
        underline="never"
      >
        <Button component="span">{text(step === 'key' ? 'steps.makeKey' : 'steps.send')}</Button>
      </PageAnchor>{' '}
      <Anchor href="/docs" size="sm" ml="sm">
        {text('layout.docs')}
      </Anchor>
    </div>
  );
}
