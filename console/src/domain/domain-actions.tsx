import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useAccountId, useMay } from '../account/use-me.ts';
import { deleteUnchanged } from '../api/if-unchanged.ts';
import type { DomainDetail } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { Confirm } from '../components/confirm.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { text } from '../texts/text.ts';
import { recordsNow, requiredProblems } from './records-now.ts';

/** The actions of a domain: check, rotate keys, remove. */
export function DomainActions({ domain: { domain, state } }: { domain: DomainDetail }) {
  const account = useAccountId();
  const may = useMay();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [rotating, rotation] = useDisclosure();
  const [removing, removal] = useDisclosure();
  const params = { path: { accountId: account, domain } };
  const show = (found: DomainDetail) => client.setQueryData(['domains', account, domain], found);
  const check = useAction({
    mutationFn: () => api.post('/accounts/{accountId}/domains/{domain}/check', params.path),
    onSuccess(found) {
      show(found);
      const problems = requiredProblems(found);
      const allFound = recordsNow(found).every(
        ({ required, state }) => !required || state === 'ok',
      );
      if (problems !== undefined) showNotice(text(`domains.left.${problems.kind}`, problems));
      else showNotice(text(allFound ? 'domains.allFound' : 'domains.unknown'));
    },
  });
  async function rotate() {
    show(await api.post('/accounts/{accountId}/domains/{domain}/rotate-keys', params.path));
    showNotice(text('domains.rotated'));
  }

  async function remove() {
    const resourcePath = '/accounts/{accountId}/domains/{domain}';
    await deleteUnchanged(resourcePath, params.path, { state });
    await navigate({ to: '/$account/domains', params: { account } });
    await client.invalidateQueries({ queryKey: ['domains', account] });
  }

  if (!may('domains:write')) return null;
  return (
    <>
      <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
        {text('domains.check')}
      </Button>
      <RowMenu
        name={domain}
        items={[
          { label: text('domains.rotate'), choose: rotation.open },
          { label: text('remove'), color: 'red', choose: removal.open },
        ]}
        onPage
      />
      <ProblemAlert error={check.error} />
      <Confirm
        opened={rotating}
        close={rotation.close}
        title={text('domains.rotateTitle')}
        consequence={text('domains.rotateHint')}
        action={text('domains.rotate')}
        confirm={rotate}
      />
      <ConfirmByName
        opened={removing}
        close={removal.close}
        title={text('domains.removeTitle')}
        consequence={text('domains.removeConsequence')}
        name={domain}
        action={text('remove')}
        confirm={remove}
      />
    </>
  );
}
