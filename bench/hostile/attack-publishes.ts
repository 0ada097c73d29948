import { type HostileAttack, signedIn } from './attack.ts';
import { slowSource } from './slow-source.ts';

let drafts = 0;

/** Saves a draft that compiles slowly and publishes it. */
export const attackPublishes: HostileAttack = (target, client) => {
  drafts += 1;
  const path = `/manage/v1/accounts/${target.accountId}/templates/t-slow-${drafts}`;
  const headers = signedIn(target, target.ownerCookie);
  let at = 0;
  return async () => {
    at += 1;
    const subject = `Subject ${at}`;
    if (at === 1)
      await client.ask({ method: 'PUT', path, headers, body: JSON.stringify({ name: 'Slow' }) });
    const body = JSON.stringify({ ...slowSource, subject });
    await client.ask({ method: 'PUT', path: `${path}/draft`, headers, body });
    return (await client.ask({ path: `${path}/publish`, headers, body: '{}' })).status;
  };
};
