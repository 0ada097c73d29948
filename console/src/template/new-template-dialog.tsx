import './starter.css';
import { useState } from 'react';
import { useAccountId, useMe } from '../account/use-me.ts';
import { createNew } from '../api/if-unchanged.ts';
import { api } from '../api/management.ts';
import { slugOf } from '../format/slug.ts';
import { useSenders } from '../overview/use-overview.ts';
import { text } from '../texts/text.ts';
import { NameTemplateDialog } from './name-template-dialog.tsx';
import { blankStarter, StarterChoice, StarterPreview, useStarters } from './starter-choice.tsx';
import { chooseSender } from './unverified-sender.tsx';

interface NewTemplateDialogProps {
  opened: boolean;
  close: () => void;
  /** The starter, if it is chosen already. */
  starter?: string;
}

/** Creates a template, blank or from a starter. Name and id are the starter's until others are typed. */
export function NewTemplateDialog({ starter: first, ...dialog }: NewTemplateDialogProps) {
  const accountId = useAccountId();
  const { data: me } = useMe();
  const senders = useSenders();
  const starters = useStarters();
  const [chosen, setChosen] = useState(first ?? blankStarter);
  const [typedName, setName] = useState<string>();
  const [typedId, setTypedId] = useState<string>();
  const starter = starters.data?.items.find(({ id }) => id === chosen);
  const name = typedName ?? starter?.name ?? '';
  const id = typedId ?? (typedName === undefined ? (starter?.id ?? '') : slugOf(name).slice(0, 64));

  async function make() {
    const path = { accountId, templateId: id };
    // Read first, so that a failure leaves no empty template.
    const content = starter && (await readStarter(accountId, starter.id));
    await createNew('id', '/accounts/{accountId}/templates/{templateId}', path, { name });
    if (content === undefined) return;
    // A sender may have been verified since, in another tab.
    const { data: current } = await senders.refetch();
    const sender = chooseSender(current?.items ?? [], me?.person?.email ?? '');
    await api.put('/accounts/{accountId}/templates/{templateId}/draft', path, {
      ...content,
      ...(sender !== undefined && { sender }),
    });
  }

  return (
    <NameTemplateDialog
      {...dialog}
      size={first === undefined ? '64rem' : '44rem'}
      title={
        first === undefined
          ? text('templates.add')
          : text('templates.addFrom', { name: starter?.name ?? text('starters.blank') })
      }
      action={text('templates.create')}
      name={name}
      id={id}
      changeName={setName}
      changeId={setTypedId}
      make={make}
    >
      {first === undefined ? (
        <StarterChoice value={chosen} change={setChosen} />
      ) : (
        <StarterPreview starter={first} />
      )}
    </NameTemplateDialog>
  );
}

async function readStarter(accountId: string, starterId: string) {
  const { content } = await api.get('/accounts/{accountId}/template-starters/{starterId}', {
    accountId,
    starterId,
  });
  const { images: _, ...rest } = content;
  return rest;
}
