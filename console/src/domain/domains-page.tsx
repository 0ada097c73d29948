import { AreaList } from '../components/area-list.tsx';
import './domain-texts.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { localProblem } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Field } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { PageAnchor } from '../components/links.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { text } from '../texts/text.ts';
import { DomainBadge } from './domain-badge.tsx';
import { isDomainName } from './domain-name.ts';

/** The sending domains of the account. */
export function DomainsPage() {
  const { button: add, dialog } = useAddDialog(text('domains.add'), 'domains:write', 'new-domain');
  const pages = usePages('/accounts/{accountId}/domains');
  return (
    <AreaList
      area="domains"
      add={add}
      pages={pages}
      idOf={({ domain }) => domain}
      columns={[
        {
          title: text('domains.domain'),
          cell: ({ domain }) => (
            <PageAnchor to="/$account/domains/$domain" params={{ domain }}>
              {domain}
            </PageAnchor>
          ),
        },
        { title: text('domains.state'), cell: ({ state }) => <DomainBadge state={state} /> },
        {
          title: text('domains.since'),
          cell: ({ stateAt }) => <TimeText value={stateAt} as="distance" />,
        },
        {
          title: text('domains.checked'),
          cell: ({ checkedAt }) =>
            checkedAt === null ? text('never') : <TimeText value={checkedAt} as="distance" />,
        },
      ]}
    >
      <DomainDialog {...dialog} />
    </AreaList>
  );
}

function DomainDialog(props: { opened: boolean; close: () => void }) {
  const account = useAccountId();
  const refresh = useRefresh('domains');
  const navigate = useNavigate();
  const [domain, setDomain] = useState('');

  async function submit() {
    if (!isDomainName(domain.trim())) throw localProblem('domain', text('domains.invalidName'));
    const added = await api.put(
      '/accounts/{accountId}/domains/{domain}',
      { accountId: account, domain: domain.trim() },
      {},
    );
    await refresh();
    await navigate({ to: '/$account/domains/$domain', params: { account, domain: added.domain } });
  }

  return (
    <FormDialog {...props} title={text('domains.add')} action={text('domains.add')} submit={submit}>
      <Field
        field="domain"
        label={text('domains.domain')}
        description={text('domains.addHint')}
        placeholder="example.com"
        required
        value={domain}
        change={setDomain}
        data-autofocus
      />
    </FormDialog>
  );
}
