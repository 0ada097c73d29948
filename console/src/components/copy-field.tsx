import { ActionIcon, Button, Code, Group, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { text } from '../texts/text.ts';
import { Icon } from './icon.tsx';

interface CopyFieldProps {
  value: string;
  /** What is copied, if it isn't the value. */
  copied?: string;
  label: string;
  /** Shows only the beginning and the end of a long value. */
  short?: boolean;
  /** On one line, even if the column gets wider. */
  nowrap?: boolean;
  /** What is shown, if it isn't the value. */
  children?: ReactNode;
}

/** A value with a copy button. */
export function CopyField({
  value,
  copied = value,
  label,
  short,
  nowrap,
  children,
}: CopyFieldProps) {
  return (
    <Group gap={6} wrap="nowrap" align="center">
      <Code className={short || nowrap ? 'nowrap' : 'breakable'} title={short ? value : undefined}>
        {children ?? (short ? shorten(value) : value)}
      </Code>
      <CopyIcon value={copied} label={label} />
    </Group>
  );
}

/** The beginning and the end of a long value. */
function shorten(value: string): string {
  return `${value.slice(0, 6)}…${value.slice(-6)}`;
}

/** An address with a copy button, on one line; a long mailbox is cut off. */
export function CopyAddress({ address, label }: { address: string; label: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Code className="cut-short" title={address}>
        {address.replace(/^(.{6}).{9,}@/, '$1…@')}
      </Code>
      <CopyIcon value={address} label={label} />
    </Group>
  );
}

function CopyIcon({ value, label }: { value: string; label: string }) {
  const clipboard = useClipboard();
  const name = clipboard.copied ? text('copy.done') : text('copy.name', { label });
  return (
    <ActionIcon
      variant="subtle"
      aria-label={name}
      title={name}
      onClick={() => clipboard.copy(value)}
    >
      <Icon name={clipboard.copied ? 'check' : 'copy'} />
    </ActionIcon>
  );
}

interface CopyButtonProps {
  value: string;
  children?: string;
  /** As large as a button next to a field. */
  large?: boolean;
  /** Small and without a background. */
  subtle?: boolean;
}

export function CopyButton({ value, children, large, subtle }: CopyButtonProps) {
  const clipboard = useClipboard();
  return (
    <Button
      {...(large
        ? { variant: 'default' }
        : subtle
          ? { size: 'compact-xs', variant: 'subtle' }
          : { size: 'compact-sm', variant: 'light' })}
      leftSection={<Icon name={clipboard.copied ? 'check' : 'copy'} />}
      onClick={() => clipboard.copy(value)}
    >
      {clipboard.copied ? text('copy.done') : (children ?? text('copy'))}
    </Button>
  );
}

/** The title of a text below it, with a button that copies the text. */
export function CopyHeading({ title, value }: { title: string; value: string }) {
  return (
    <Group justify="space-between" mb={4}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <CopyButton value={value} />
    </Group>
  );
}
