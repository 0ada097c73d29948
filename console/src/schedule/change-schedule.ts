import { useAccountId } from '../account/use-me.ts';
import type { ScheduleChange } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { text } from '../texts/text.ts';

/** One message, or all with a tag or external ID. */
export type Selection =
  | { readonly messageId: string }
  | { readonly tag: string }
  | { readonly externalId: string };

/** Moves and cancels scheduled messages. */
export function useScheduleChanges() {
  const accountId = useAccountId();
  const params = { accountId };
  const refresh = useRefresh('scheduled-messages', 'messages');
  return {
    async move(selection: Selection, sendAt: string): Promise<ScheduleChange> {
      const body = { ...selection, sendAt };
      const change = await api.post('/accounts/{accountId}/scheduled-messages/move', params, body);
      await refresh();
      return change;
    },
    async cancel(selection: Selection): Promise<ScheduleChange> {
      const change = await api.post(
        '/accounts/{accountId}/scheduled-messages/cancel',
        params,
        selection,
      );
      await refresh();
      return change;
    },
  };
}

/** What a change did, for a notice. */
export function describeChange(
  kind: 'moved' | 'canceled',
  { changed, skipped }: ScheduleChange,
): string {
  const done = text(`schedule.${kind}`, { changed });
  return skipped === 0 ? done : `${done} ${text('schedule.skipped', { skipped })}`;
}
