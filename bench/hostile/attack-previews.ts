import { type HostileAttack, signedIn } from './attack.ts';

/** Sixty values as large as a preview takes them; each character takes five once it is escaped. */
export const attackPreviews: HostileAttack = (target, client) => {
  const values = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`Field ${at}`, "'".repeat(4_200)]),
  );
  const call = {
    path: `/manage/v1/accounts/${target.accountId}/templates/t-sixty/preview`,
    headers: signedIn(target, target.viewerCookie),
    body: JSON.stringify({ values }),
  };
  return async () => (await client.ask(call)).status;
};
