import { Text } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Sender } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { DomainBadge } from '../domain/domain-badge.tsx';
import { text } from '../texts/text.ts';
import { SenderActions } from './sender-actions.tsx';
import { SenderDialog } from './sender-dialog.tsx';
import { SenderState } from './sender-state.tsx';

/** The senders of the account. */
export function SendersPage() {
  const accountId = useAccountId();
  const { button: add, dialog } = useAddDialog(text('senders.add'), 'senders:write', 'new-sender');
  const pages = usePages<Sender>({
    queryKey: ['senders', accountId],
    read: (cursor) => api.get('/accounts/{accountId}/senders', { accountId }, { cursor }),
    // A confirmation link is opened elsewhere.
    refetchInterval: 5_000,
  });
  return (
    <>
      <PageHeading title={text('senders.title')} hint={text('senders.hint')}>
        {add}
      </PageHeading>
      <ListBody
        label={text('senders.title')}
        pages={pages}
        idOf={({ address }) => address}
        empty={{
          icon: 'senders',
          title: text('senders.none'),
          hint: text('senders.noneHint'),
          action: add,
        }}
        columns={[
          {
            title: text('senders.address'),
            cell: ({ address }) => (
              <span className="cut" title={address}>
                {address}
              </span>
            ),
          },
          {
            title: text('senders.verified'),
            cell: (sender) => <SenderState sender={sender} />,
          },
          { title: text('senders.domain'), cell: (sender) => <SenderDomain sender={sender} /> },
          {
            title: text('senders.names'),
            cell: ({ displayNames }) => <DisplayNames names={displayNames} />,
          },
          {
            title: text('actions'),
            actions: true,
            cell: (sender) => <SenderActions sender={sender} />,
          },
        ]}
      />
      <SenderDialog {...dialog} />
    </>
  );
}

/** The default name, and how many others there are. */
function DisplayNames({ names }: { names: readonly string[] }) {
  const [first, ...others] = names.map((name) => (name === '*' ? text('senders.anyName') : name));
  if (first === undefined) return null;
  return (
    <span className="nowrap" title={[first, ...others].join(', ')}>
      {names[0] === '*' ? (
        <Text span inherit c="dimmed">
          {first}
        </Text>
      ) : (
        first
      )}
      {others.length > 0 && (
        <Text span size="xs" c="dimmed">
          {` +${others.length}`}
        </Text>
      )}
    </span>
  );
}

/** The state of the sender's domain with a link to it, or one to set it up. */
function SenderDomain({ sender: { sendingDomain, domainState } }: { sender: Sender }) {
  const account = useAccountId();
  const may = useMay();
  if (sendingDomain !== null && domainState !== null)
    return (
      <PageAnchor
        to="/$account/domains/$domain"
        params={{ account, domain: sendingDomain }}
        title={sendingDomain}
        underline="never"
      >
        <DomainBadge state={domainState} />
      </PageAnchor>
    );
  if (!may('domains:write')) return null;
  return (
    <PageAnchor to="/$account/domains" params={{ account }} size="sm">
      {text('senders.domain.none')}
    </PageAnchor>
  );
}
