import { Badge, Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Sender } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { Icon } from '../components/icon.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { text } from '../texts/text.ts';
import { SenderActions } from './sender-actions.tsx';
import { SenderDialog } from './sender-dialog.tsx';

/** The senders of the account. */
export function SendersPage() {
  const accountId = useAccountId();
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  const pages = usePages<Sender>({
    queryKey: ['senders', accountId],
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/senders', {
          params: { path: { accountId }, query: { cursor } },
        }),
      ),
  });
  const add = may('senders:write') ? (
    <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>
      {text('senders.add')}
    </Button>
  ) : undefined;
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
          { title: text('senders.address'), cell: ({ address }) => address },
          {
            title: text('senders.verified'),
            cell: ({ verified }) => (
              <Badge
                variant="light"
                tt="none"
                className="state-badge"
                data-color={verified ? 'green' : 'yellow'}
              >
                {text(verified ? 'senders.isVerified' : 'senders.isNot')}
              </Badge>
            ),
          },
          {
            title: text('senders.names'),
            cell: ({ displayNames }) =>
              displayNames.length > 0 && (
                <Group gap={4}>
                  {displayNames.map((name) => (
                    <Badge key={name} className="name-badge" variant="default" tt="none" fw={500}>
                      {name === '*' ? text('senders.anyName') : name}
                    </Badge>
                  ))}
                </Group>
              ),
          },
          {
            title: text('actions'),
            actions: true,
            cell: (sender) => <SenderActions sender={sender} />,
          },
        ]}
      />
      <SenderDialog opened={opened} close={dialog.close} />
    </>
  );
}
