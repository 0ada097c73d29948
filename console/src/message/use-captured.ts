import { useAccount } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import type { Message } from '../api/management.generated.ts';

/** Whether the message was captured in an inbox instead of delivered. */
export function useCaptured({ state, test }: Pick<Message, 'state' | 'test'>): boolean {
  const capturing = useCapturing();
  return (capturing || test) && state === 'delivered';
}

/** Whether mail is captured in the inbox of the installation instead of delivered. The inbox has none of the demo data. */
export function useCapturing(): boolean {
  const { data: settings } = useSettings();
  const { account } = useAccount();
  return settings?.delivery === 'inbox' && account?.demo !== true;
}
