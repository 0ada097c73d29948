import { Button, Code } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { text } from '../texts/text.ts';
import { CopyHeading } from './copy-field.tsx';
import { markTokens } from './mark-tokens.ts';
import './code-sample.css';

/** Max lines of a sample that is shown in full. */
const maxSampleLines = 20;

/** Code with a copy button; long code is cut off until it is asked for. */
export function CodeSample({ title, code }: { title: string; code: string }) {
  const [isExpanded, expansion] = useDisclosure();
  const isCut = !isExpanded && code.split('\n').length > maxSampleLines;
  return (
    <div>
      <CopyHeading title={title} value={code} />
      <div className="sample" data-cut={isCut}>
        {/* Long lines scroll, so the keyboard must reach it. */}
        <Code block className="snippet" tabIndex={0}>
          {markTokens(code).map(({ text: part, kind }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts can repeat, and have no state
            <span key={index} data-token={kind}>
              {part}
            </span>
          ))}
        </Code>
      </div>
      {isCut && (
        <Button size="compact-sm" variant="subtle" mt={4} onClick={expansion.open}>
          {text('use.showAll')}
        </Button>
      )}
    </div>
  );
}
