import { SegmentedControl, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { WebhookDelivery } from '../api/management.generated.ts';
import type { LoadedPages } from '../api/pages.ts';
import { choicesOf } from '../components/choices-of.ts';
import { PageAnchor } from '../components/links.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { DeliveryBadge } from './delivery-badge.tsx';
import { deliveryStates, type FilteredState, readWebhookFilters } from './webhook-filters.ts';

const route = getRouteApi('/$account/webhooks/$webhook');

interface DeliveryListProps {
  log: LoadedPages<WebhookDelivery>;
  /** The event that is shown. */
  shown: string | undefined;
  paused: boolean;
}

/** The events of a webhook, newest first. */
export function DeliveryList({ log, shown, paused }: DeliveryListProps) {
  return (
    <>
      <ProblemAlert error={log.error} shownFrom={log.dataUpdatedAt} retry={() => log.refetch()} />
      {log.isPending && <RowsSkeleton />}
      {log.data !== undefined && log.items.length === 0 && (
        <Text c="dimmed" size="sm" p="md">
          {text('webhooks.noneInState')}
        </Text>
      )}
      <ul className="event-list" aria-label={text('webhooks.deliveries')}>
        {log.items.map((delivery) => (
          <DeliveryItem
            key={delivery.eventId}
            delivery={delivery}
            isShown={delivery.eventId === shown}
            paused={paused}
          />
        ))}
      </ul>
      <LoadMore pages={log} />
    </>
  );
}

interface DeliveryItemProps {
  delivery: WebhookDelivery;
  isShown: boolean;
  paused: boolean;
}

function DeliveryItem({ delivery, isShown, paused }: DeliveryItemProps) {
  const { kind, at, address, state, attempts, lastStatus, nextAt } = delivery;
  const { state: filter } = readWebhookFilters(route.useSearch());
  const { webhook } = route.useParams();
  return (
    <li>
      <PageAnchor
        to="/$account/webhooks/$webhook"
        params={{ webhook }}
        search={{ ...(filter && { state: filter }), event: delivery.eventId }}
        resetScroll={false}
        aria-current={isShown ? 'true' : undefined}
        underline="never"
        c="inherit"
      >
        <span className="event-line">
          <code className="event-name">message.{kind}</code>
          <DeliveryBadge
            state={state}
            status={lastStatus}
            attempts={attempts}
            nextAt={paused || attempts === 0 ? null : nextAt}
          />
        </span>
        <span className="event-line event-about">
          <span className="event-to">{address ?? text('webhooks.erased')}</span>
          {state !== 'delivered' && attempts > 0 && (
            <span className="nowrap">
              {lastStatus === 0
                ? text('webhooks.noAnswer')
                : text('webhooks.status', { status: String(lastStatus) })}
              {' · '}
              {text('webhooks.tried', { count: attempts })}
            </span>
          )}
          <span className="event-time">
            <TimeText value={at} />
          </span>
        </span>
      </PageAnchor>
    </li>
  );
}

/** Chooses the state of the shown events. */
export function StateFilter() {
  const { state } = readWebhookFilters(route.useSearch());
  const navigate = route.useNavigate();
  return (
    <SegmentedControl
      aria-label={text('webhooks.state')}
      value={state ?? ''}
      onChange={(value) =>
        navigate({
          search: value === '' ? {} : { state: value as FilteredState },
          replace: true,
          resetScroll: false,
        })
      }
      data={[
        { value: '', label: text('webhooks.allStates') },
        ...choicesOf(deliveryStates, (value) => text(`webhooks.delivery.${value}`)),
      ]}
    />
  );
}
