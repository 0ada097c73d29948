import { useNavigate } from '@tanstack/react-router';
import { useAccount, useMe } from '../account/use-me.ts';
import { text } from '../texts/text.ts';

/** Shows the current account and switches to the person's other ones. */
export function AccountSwitcher() {
  const { data: me } = useMe();
  const { account } = useAccount();
  const navigate = useNavigate();
  if (me === undefined || account === undefined) return null;
  if (me.accounts.length === 1)
    return (
      <span className="account-name" title={account.name}>
        {account.name}
      </span>
    );
  return (
    <span className="account-switcher">
      <select
        aria-label={text('layout.account')}
        title={account.name}
        value={account.id}
        onChange={(event) =>
          navigate({ to: '/$account', params: { account: event.currentTarget.value } })
        }
      >
        {me.accounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}
