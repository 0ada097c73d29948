import { type RefObject, useEffect, useRef } from 'react';
import type { InboxSummary } from '../api/management.generated.ts';
import { isTyping } from '../layout/use-shortcuts.ts';
import { mailAnchor } from './mail-list.tsx';
import type { Inbox } from './use-inbox.ts';

interface MailKeysOptions {
  readonly inbox: Inbox;
  readonly items: readonly InboxSummary[];
  readonly field: RefObject<HTMLInputElement | null>;
}

/** Opens the next older mail on `j`, the next newer one on `k`, the search on `/`, and leads back to the list on Escape. */
export function useMailKeys({
  inbox: { filters, list, show },
  items,
  field,
}: MailKeysOptions): void {
  // The address follows a moment later, and the next key may come before.
  const shown = useRef(filters.mail);
  useEffect(() => {
    shown.current = filters.mail;
  }, [filters.mail]);
  useEffect(() => {
    function open(step: 1 | -1) {
      const index = items.findIndex(({ id }) => id === shown.current);
      const next = items[Math.max(index + step, 0)];
      if (next === undefined) return;
      show({ ...filters, mail: next.id }, shown.current !== undefined);
      shown.current = next.id;
      document.getElementById(mailAnchor(next.id))?.scrollIntoView({ block: 'nearest' });
    }

    function onKey(event: KeyboardEvent) {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return;
      if (key === 'Escape' && target === field.current) field.current?.blur();
      else if (isTyping(target)) return;
      else if (key === 'j') open(1);
      else if (key === 'k') open(-1);
      else if (key === '/') {
        // Elsewhere it opens the palette.
        event.preventDefault();
        event.stopPropagation();
        field.current?.focus();
      } else if (key === 'Escape' && shown.current !== undefined) show(list);
    }
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, [filters, list, show, items, field]);
}
