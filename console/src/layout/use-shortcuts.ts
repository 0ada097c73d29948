import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { useAreas } from './navigation.tsx';

/** Pages by the letter after `g`. */
export const pageLetters = {
  o: 'overview',
  m: 'messages',
  r: 'reports',
  t: 'templates',
  w: 'webhooks',
  e: 'senders',
  d: 'domains',
  q: 'destinations',
  l: 'lists',
  s: 'suppressions',
  u: 'team',
  a: 'audit',
  i: 'inbox',
  k: 'keys',
  h: 'integrations',
  y: 'privacy',
  c: 'scheduled',
  p: 'settings',
} as const;

const sequenceMs = 1_500;

/** Where keys are text. */
const typing = 'input, textarea, select, [contenteditable=""], [contenteditable="true"]';

/** Whether keys are text where an event happens. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(typing) !== null;
}

/** Goes to a page on `g` and its letter, and calls `help` on `?`; not while typing or in a dialog. */
export function useShortcuts(help: () => void): void {
  const account = useAccountId();
  const navigate = useNavigate();
  const areas = useAreas();
  const begunAt = useRef(Number.NEGATIVE_INFINITY);

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(target)) return;
      if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return;
      const isSecond = performance.now() - begunAt.current < sequenceMs;
      begunAt.current = !isSecond && key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY;
      if (key === '?') {
        event.preventDefault();
        help();
      } else if (isSecond && Object.hasOwn(pageLetters, key)) {
        const name = pageLetters[key as keyof typeof pageLetters];
        const page = areas.flatMap(({ pages }) => pages).find((one) => one.name === name);
        if (page === undefined || 'href' in page) return;
        event.preventDefault();
        navigate({ to: page.to, params: { account } });
      }
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [account, navigate, areas, help]);
}
