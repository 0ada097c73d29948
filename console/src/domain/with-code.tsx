import { Code } from '@mantine/core';
import type { ReactNode } from 'react';

/** Names of settings, with or without a value, and tags of DNS records, such as `PUBLIC_URL` or `p=none`. */
const code = /\b([A-Z]+(?:_[A-Z]+)+|\w+=\w+)\b/;

/** A sentence with its names of settings and its tags of records as code. */
export function withCode(sentence: string): ReactNode {
  // Every second part is a match.
  return sentence
    .split(code)
    .map((part, index) => (index % 2 === 1 ? <Code key={part}>{part}</Code> : part));
}
