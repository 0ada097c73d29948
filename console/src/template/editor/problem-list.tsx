import { Button, Group, Skeleton, Title } from '@mantine/core';
import type { TemplatePreview } from '../../api/management.generated.ts';
import { asSentence } from '../../api/problem.ts';
import { Note } from '../../components/note.tsx';
import { Tag } from '../../components/tag.tsx';
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
          <Note size="sm">
            {problems.length === 0
              ? text('editor.noProblems')
              : text('editor.problemCount', { count: problems.length })}
            {hints.length > 0 && ` · ${text('editor.hintCount', { count: hints.length })}`}
          </Note>
        )}
      </Group>
      {/* As high as a hint, so that what follows doesn't move. */}
      {preview === undefined && <Skeleton height={28} />}
      {problems.length + hints.length > 0 && (
        <ul className="problems" aria-label={text('editor.problemList')}>
          {problems.map(({ severity, part, message, line, rule, variant }) => (
            <li key={`${variant} ${rule} ${part} ${line} ${message}`}>
              <Severity severity={severity} />
              <span className="breakable">
                {asSentence(message)}{' '}
                <Note span>
                  {variant !== undefined && `${variant} `}
                  {part}
                  {line !== undefined && `, ${text('editor.line', { line })}`}
                </Note>
              </span>
            </li>
          ))}
          {hints.map(({ rule, message }) => (
            <li key={`${rule} ${message}`}>
              <Severity severity="hint" />
              <span className="breakable">{asSentence(message)}</span>
              <Fix fix={fixOf(rule)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const severityColors = { error: 'red', warning: 'yellow', hint: 'blue' } as const;

function Severity({ severity }: { severity: keyof typeof severityColors }) {
  return (
    <Tag color={severityColors[severity]} size="sm">
      {text(`editor.severity.${severity}`)}
    </Tag>
  );
}

function Fix({ fix }: { fix: (() => void) | undefined }) {
  if (fix === undefined) return null;
  return (
    <Button variant="default" size="compact-sm" onClick={fix}>
      {text('editor.fix')}
    </Button>
  );
}
