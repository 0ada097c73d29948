import { Anchor, Group, List, Text, Title } from '@mantine/core';
import type { TemplatePreview } from '../../api/management.generated.ts';
import { asSentence } from '../../api/problem.ts';
import { Icon } from '../../components/icon.tsx';
import { text } from '../../texts/text.ts';

interface TemplateProblemListProps {
  preview: TemplatePreview | undefined;
  /** What fixes a hint, or leads to where it is fixed. */
  fixOf: (rule: string) => (() => void) | undefined;
}

/** Errors, warnings and hints. */
export function TemplateProblemList({ preview, fixOf }: TemplateProblemListProps) {
  const problems = preview?.problems ?? [];
  const hints = preview?.hints ?? [];
  return (
    <section aria-labelledby="problems" aria-live="polite">
      <Group gap="xs" align="baseline" mb="xs" mt="md">
        <Title order={2} id="problems">
          {text('editor.problems')}
        </Title>
        {preview !== undefined && (
          <Text size="sm" c="dimmed">
            {problems.length === 0
              ? text('editor.noProblems')
              : text('editor.problemCount', { count: problems.length })}
            {hints.length > 0 && ` · ${text('editor.hintCount', { count: hints.length })}`}
          </Text>
        )}
      </Group>
      <List size="sm" listStyleType="none" spacing={4}>
        {problems.map(({ severity, part, message, line, rule, variant }) => (
          <List.Item
            key={`${variant} ${rule} ${part} ${line} ${message}`}
            icon={<Icon name="warning" />}
          >
            <Text span fw={severity === 'error' ? 600 : 400} size="sm">
              {asSentence(message)}
            </Text>{' '}
            <Text span size="xs" c="dimmed">
              {variant !== undefined && `${variant} `}
              {part}
              {line !== undefined && `, ${text('editor.line', { line })}`}
            </Text>
          </List.Item>
        ))}
      </List>
      {hints.length > 0 && (
        <List size="sm" mt={4} aria-label={text('editor.hints')}>
          {hints.map(({ rule, message }) => (
            <List.Item key={`${rule} ${message}`}>
              {asSentence(message)} <Fix fix={fixOf(rule)} />
            </List.Item>
          ))}
        </List>
      )}
    </section>
  );
}

function Fix({ fix }: { fix: (() => void) | undefined }) {
  if (fix === undefined) return null;
  return (
    <Anchor component="button" type="button" inherit onClick={fix}>
      {text('editor.fix')}
    </Anchor>
  );
}
