import { useSettings } from '../account/use-settings.ts';
import type { Message } from '../api/management.generated.ts';

/** Whether the message was captured in the inbox of the installation instead of delivered. */
export function useCaptured({ state }: Pick<Message, 'state'>): boolean {
  const { data: settings } = useSettings();
  return state === 'delivered' && settings?.delivery === 'inbox';
}
