import { Anchor, Button, Group, Text } from '@mantine/core';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { deleteUnchanged } from '../api/if-unchanged.ts';
import type { Sender } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { AreaList } from '../components/area-list.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { DomainBadge } from '../domain/domain-badge.tsx';
import { text } from '../texts/text.ts';
import { MarkVerifiedDialog } from './mark-verified.tsx';
import { SenderDialog } from './sender-dialog.tsx';
import { useSenderLink } from './use-sender-link.ts';

/** The senders of the account. */
export function SendersPage() {
  const { button: add, dialog } = useAddDialog(text('senders.add'), 'senders:write', 'new-sender');
  const pages = usePages('/accounts/{accountId}/senders', {
    // A confirmation link is opened elsewhere.
    refetchInterval: 5_000,
  });
  return (
    <AreaList
      area="senders"
      add={add}
      pages={pages}
      idOf={({ address }) => address}
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
    >
      <SenderDialog {...dialog} />
    </AreaList>
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
      {others.length > 0 && <Note span>{` +${others.length}`}</Note>}
    </span>
  );
}

/** The state of the sender's domain with a link to it, or one to set it up. */
function SenderDomain({ sender: { sendingDomain, domainState } }: { sender: Sender }) {
  const may = useMay();
  if (sendingDomain !== null && domainState !== null)
    return (
      <PageAnchor
        to="/$account/domains/$domain"
        params={{ domain: sendingDomain }}
        title={sendingDomain}
        underline="never"
      >
        <DomainBadge state={domainState} />
      </PageAnchor>
    );
  if (!may('domains:write')) return null;
  return (
    <PageAnchor to="/$account/domains" size="sm">
      {text('senders.domain.none')}
    </PageAnchor>
  );
}

/** Whether a sender is verified, how, and what it waits for. */
function SenderState({ sender }: { sender: Sender }) {
  const { verified, verifiedBy, domainState, linkExpiresAt } = sender;
  const { data: settings } = useSettings();
  // Direct delivery only sends signed mail.
  const waitsForDomain = settings?.delivery === 'direct' && domainState !== 'verified';
  const isWaiting = !verified && linkExpiresAt !== null;
  const label = verified ? 'senders.isVerified' : isWaiting ? 'senders.waiting' : 'senders.isNot';
  return (
    <div>
      <Tag color={verified ? 'green' : 'yellow'}>{text(label)}</Tag>
      <Note>
        {verifiedBy !== null &&
          text(waitsForDomain ? 'senders.waitsForDomain' : `senders.by.${verifiedBy}`)}
        {isWaiting && (
          <>
            {text('senders.linkExpires')} <TimeText value={linkExpiresAt} as="distance" />
          </>
        )}
      </Note>
      {isWaiting && <InboxHint />}
    </div>
  );
}

/** Where the confirmation link is if mail stays on this machine. */
function InboxHint() {
  const { data: me } = useMe();
  if (me?.operator !== true || !me.inbox) return null;
  return (
    <Text size="xs">
      {text('senders.inInbox')}{' '}
      <Anchor inherit href="/inbox" underline="always">
        {text('senders.openInbox')}
      </Anchor>
    </Text>
  );
}

/** The actions of a sender. Confirmation by email comes first; operators can also mark it as verified. */
function SenderActions({ sender }: { sender: Sender }) {
  const accountId = useAccountId();
  const may = useMay();
  const { data: settings } = useSettings();
  const refresh = useRefresh('senders');
  const { data: me } = useMe();
  const change = useDialog();
  const verification = useDialog();
  const removal = useDialog();
  const link = useSenderLink();
  const { address, verified, linkExpiresAt } = sender;
  const params = { accountId, address };
  const resourcePath = '/accounts/{accountId}/senders/{address}';

  async function remove() {
    const { displayNames } = sender;
    await deleteUnchanged(resourcePath, params, { displayNames, verified });
    await refresh();
  }

  if (!may('senders:write')) return null;
  return (
    <>
      <Group gap={4} wrap="nowrap" justify="flex-end">
        {/* Shown until the settings say otherwise: rows don't move when they arrive. */}
        {!verified && settings?.systemMail !== false && (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={link.isPending}
            onClick={() => link.mutate(address)}
          >
            {text(linkExpiresAt === null ? 'senders.sendLink' : 'senders.sendAgain')}
          </Button>
        )}
        <RowMenu
          name={address}
          items={[
            { label: text('change'), choose: change.open },
            ...(!verified && me?.operator === true
              ? [{ label: text('senders.verify'), choose: verification.open }]
              : []),
            { label: text('remove'), color: 'red', choose: removal.open },
          ]}
        />
      </Group>
      <MarkVerifiedDialog address={address} {...verification.props} />
      <ConfirmByName
        {...removal.props}
        title={text('senders.removeTitle')}
        consequence={text('senders.removeConsequence')}
        name={address}
        action={text('remove')}
        confirm={remove}
      />
      <ProblemAlert error={link.error} />
      <SenderDialog {...change.props} sender={sender} />
    </>
  );
}
