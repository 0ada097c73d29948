import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import type { FilteredState } from './webhook-filters.ts';

const colors: Readonly<Record<FilteredState, string>> = {
  pending: 'yellow',
  delivered: 'green',
  failed: 'red',
};

interface DeliveryBadgeProps {
  state: FilteredState;
  /** The HTTP status of a sent event, shown instead of the state. */
  status?: number | null;
  /** How often it was sent. */
  attempts?: number;
  /** When it is sent again. */
  nextAt?: string | null;
}

/** The state of an event for a webhook. */
export function DeliveryBadge(props: DeliveryBadgeProps) {
  const { state, status = null, attempts = 0, nextAt = null } = props;
  if (state === 'delivered' && status !== null) return <StatusBadge status={status} />;
  const isLater = nextAt !== null && Date.parse(nextAt) > Date.now();
  return (
    <Tag color={colors[state]}>
      {state !== 'pending' || attempts === 0 ? (
        text(`webhooks.delivery.${state}`)
      ) : isLater ? (
        <>
          {text('webhooks.retry')} <TimeText value={nextAt} as="brief" />
        </>
      ) : (
        text('webhooks.retrying')
      )}
    </Tag>
  );
}

export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The HTTP status of a response; 0 if there was none. */
export function StatusBadge({ status }: { status: number }) {
  return (
    <Tag color={isSuccessStatus(status) ? 'green' : 'red'}>
      {status === 0 ? text('webhooks.noAnswer') : status}
    </Tag>
  );
}
